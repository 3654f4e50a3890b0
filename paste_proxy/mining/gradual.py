"""A sequence that is found only as far as it is wanted."""

from collections.abc import Iterator
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Gradual(Generic[Item]):
    """What an iterator gives, kept; several may read it at once."""

    def __init__(self, source: Iterator[Item]) -> None:
        self._known: list[Item] = []
        self._left: Iterator[Item] | None = source

    def __bool__(self) -> bool:
        return bool(self._known) or self._more()

    def __iter__(self) -> Iterator[Item]:
        if self._left is None:
            return iter(self._known)
        return self._read()

    def all(self) -> list[Item]:
        """All of it."""
        if self._left is not None:
            self._known += self._left
            self._left = None
        return self._known

    def first(self, number: int) -> list[Item]:
        """So many of it, or all there are."""
        while len(self._known) < number and self._more():
            pass
        return self._known[:number]

    def _read(self) -> Iterator[Item]:
        at = 0
        while at < len(self._known) or self._more():
            yield self._known[at]
            at += 1

    def _more(self) -> bool:
        if self._left is None:
            return False
        for one in self._left:
            self._known.append(one)
            return True
        self._left = None
        return False
