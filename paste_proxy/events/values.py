"""JSON values, read exactly.

orjson turns integers beyond 64 bits into floats, so two different order numbers could become equal, and
refuses lone surrogates, which JavaScript agents send when they cut a text inside an emoji. Texts that may
hold either are read with the standard library instead, which keeps them as they are.
"""

import json
import re
import reprlib
from typing import Never, TypeAlias

import orjson

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]|\xed[\xa0-\xbf]")
_ONLY_DIGITS = bytes(48 if 48 <= byte <= 57 else 32 for byte in range(256))
_LONG_INTEGER = b"0" * 19
_BRIEF = reprlib.Repr()
_BRIEF.maxlevel = 4
_BRIEF.maxstring = _BRIEF.maxother = _BRIEF.maxlong = 80
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def loads(text: bytes | str) -> Json:
    """The value of a JSON text; of a repeated key the last value, as every common parser has it.

    Raises:
        ValueError: the text is not JSON, holds a number no double can hold, or is nested beyond reason.
    """
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if _needs_exact_reader(raw):
        return _loads_exactly(raw)
    parsed: Json = orjson.loads(raw)
    return parsed


def dumps(value: object) -> bytes:
    """A value as JSON that any reader takes: valid UTF-8, half a surrogate pair escaped.

    Raises:
        ValueError: the value is not JSON or too deeply nested.
    """
    try:
        return orjson.dumps(value)
    except TypeError:  # what orjson does not take: lone surrogates, integers beyond 64 bits, depth over 254
        try:
            return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()
        except (TypeError, RecursionError) as fault:
            raise ValueError(f"not JSON, or nested too deeply: {fault}") from fault


def canonical_text(value: Json) -> str:
    """One text per value: keys sorted, no white space, `1`, `1.0` and `"1"` kept apart.

    Unicode is not normalised: what a tool might tell apart stays apart.

    Raises:
        ValueError: the value is not JSON (a set, a tuple, a NaN, a key that is no string) or nested
            beyond reason.
    """
    try:
        _check(value)
        return _CANONICAL.encode(value)
    except RecursionError as fault:
        raise ValueError("nested too deeply") from fault


def brief(value: object, characters: int = 60) -> str:
    """How a value that a fault tells of begins; of any depth, since nobody reads the inside."""
    return _BRIEF.repr(value)[:characters]


def _needs_exact_reader(raw: bytes) -> bool:
    """Whether a text may hold a long integer or a surrogate. Plain searches: a pattern would be ten times slower."""
    if _LONG_INTEGER in raw.translate(_ONLY_DIGITS):
        return True
    return (b"\\u" in raw or b"\xed" in raw) and _SURROGATE.search(raw) is not None


def _loads_exactly(raw: bytes) -> Json:
    try:
        value: Json = json.loads(
            raw.decode("utf-8", "surrogatepass"), parse_constant=_refuse, parse_float=_finite_float
        )
    except RecursionError as fault:
        raise ValueError("nested too deeply") from fault
    return value


def _refuse(constant: str) -> Never:
    raise ValueError(f"{constant} is not JSON")


def _finite_float(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"{text:.40} is beyond what a double holds")
    return value


def _check(value: object) -> None:
    """`json.dumps` writes tuples as lists and turns keys into texts: equal texts for unequal values."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise ValueError(f"key {key!r:.40} is no text")
            _check(inner)
    elif isinstance(value, list):
        for inner in value:
            _check(inner)
    elif isinstance(value, tuple):
        raise ValueError("a tuple is not JSON")
