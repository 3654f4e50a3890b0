"""The fields of one table in a policy file; every reader answers None for an absent key."""

import sys
from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import TypeVar

from paste_proxy.errors import InputFault

_LARGEST = sys.float_info.max
_Choice = TypeVar("_Choice", bound=StrEnum)


class Fields:
    """A table, and its place for people: `policies/research.toml: rule 2`.

    The readers raise `InputFault` for what is not as it should be; it names the place and the key.
    """

    def __init__(self, table: Mapping[str, object], place: str) -> None:
        self._table, self._place = table, place

    def fault(self, key: str, expected: str) -> InputFault:
        """What is wrong with a key."""
        found = repr(self._table[key]) if key in self._table else "nothing"
        return InputFault(f"{self._place}: {key}", found, expected)

    def place_of(self, key: str) -> str:
        """Where a key stands, for people."""
        return f"{self._place}: {key}"

    def refuse_unknown(self, keys: Collection[str]) -> None:
        """Only these keys may stand in it."""
        for key in self._table:
            if key not in keys:
                raise InputFault(f"{self._place}: {key}", "unknown key", f"one of {', '.join(keys)}")

    def value(self, key: str) -> object:
        """Whatever stands there."""
        return self._table.get(key)

    def choice(self, key: str, choices: type[_Choice]) -> _Choice | None:
        """One of some words."""
        if key not in self._table:
            return None
        for choice in choices:
            if self._table[key] == choice.value:
                return choice
        raise self.fault(key, " or ".join(f'"{choice.value}"' for choice in choices))

    def flag(self, key: str, *, default: bool) -> bool:
        """True or false."""
        value = self._table.get(key, default)
        if not isinstance(value, bool):
            raise self.fault(key, "true or false")
        return value

    def number(self, key: str, expected: str) -> float | None:
        """A finite number."""
        value = self._table.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not -_LARGEST <= value <= _LARGEST:
            raise self.fault(key, expected)
        return float(value)

    def above_zero(self, key: str, unit: str) -> float | None:
        """A number of something, more than 0."""
        value = self.number(key, f"{unit}, more than 0")
        if value is not None and value <= 0:
            raise self.fault(key, f"{unit}, more than 0")
        return value

    def seconds(self, key: str) -> float | None:
        """Seconds, more than 0."""
        return self.above_zero(key, "seconds")

    def share(self, key: str) -> float | None:
        """A number from 0 to 1."""
        value = self.number(key, "a number from 0 to 1")
        if value is not None and not 0 <= value <= 1:
            raise self.fault(key, "a number from 0 to 1")
        return value

    def name(self, key: str) -> str | None:
        """The name of an argument."""
        value = self._table.get(key)
        if value is not None and (not isinstance(value, str) or not value):
            raise self.fault(key, "the name of an argument")
        return value if isinstance(value, str) else None
