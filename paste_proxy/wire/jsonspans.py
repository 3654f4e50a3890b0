"""The parts of a JSON text as raw bytes, without reading their values.

What is passed on must be passed on as it was written, so the members of an object are found as spans.
Only the outermost level is checked; what stands inside a member is taken as it is.
"""

import json
import re

_WS = rb"[ \t\r\n]*+"
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'

_SPACE = re.compile(_WS)
_KEY = re.compile(rb"(" + _STRING + rb")" + _WS + rb":" + _WS, re.DOTALL)
_SCALAR = re.compile(_STRING + rb"|[-+.0-9A-Za-z]++", re.DOTALL)
_TO_BRACKET = re.compile(rb'(?:[^"{}\[\]]++|' + _STRING + rb")*+([{}\[\]])", re.DOTALL)
_DELIMITER = re.compile(_WS + rb"([,}\]])" + _WS)


def members(text: bytes) -> dict[str, bytes] | None:
    """The top-level members of a JSON object: name to the value's bytes, without white space around.

    A name that stands twice has its last value. None if `text` is not one whole object; the values'
    own insides are not checked.
    """
    found: dict[str, bytes] = {}
    at = _inside(text, b"{}")
    while at >= 0:
        key = _KEY.match(text, at)
        name = _name(key[1]) if key else None
        if key is None or name is None:
            return None
        end = _value_end(text, key.end())
        if end < 0:
            return None
        found[name] = text[key.end() : end]
        at = _next(text, end, b"}")
    return found if at == _WHOLE else None


def elements(text: bytes) -> list[bytes] | None:
    """The elements of a JSON array as bytes; None if `text` is not one whole array."""
    found: list[bytes] = []
    at = _inside(text, b"[]")
    while at >= 0:
        end = _value_end(text, at)
        if end < 0:
            return None
        found.append(text[at:end])
        at = _next(text, end, b"]")
    return found if at == _WHOLE else None


_BROKEN, _WHOLE = -1, -2


def _space_end(text: bytes, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _inside(text: bytes, brackets: bytes) -> int:
    """Where the first part begins; negative if the text does not open so or holds no parts."""
    at = _space_end(text, 0)
    if text[at : at + 1] != brackets[:1]:
        return _BROKEN
    at = _space_end(text, at + 1)
    if text[at : at + 1] != brackets[1:]:
        return at
    return _WHOLE if _space_end(text, at + 1) == len(text) else _BROKEN


def _next(text: bytes, at: int, closing: bytes) -> int:
    """Where the part after the one that ended at `at` begins; negative at the end."""
    delimiter = _DELIMITER.match(text, at)
    if delimiter is None:
        return _BROKEN
    if delimiter[1] == b",":
        return delimiter.end()
    return _WHOLE if delimiter[1] == closing and delimiter.end() == len(text) else _BROKEN


def _value_end(text: bytes, at: int) -> int:
    """Where the value that begins at `at` ends, or `_BROKEN`."""
    if text[at : at + 1] not in (b"{", b"["):
        scalar = _SCALAR.match(text, at)
        return scalar.end() if scalar else _BROKEN
    depth = 0
    while True:
        bracket = _TO_BRACKET.match(text, at)
        if bracket is None:
            return _BROKEN
        at = bracket.end()
        depth += 1 if bracket[1] in b"{[" else -1
        if depth == 0:
            return at


def _name(raw: bytes) -> str | None:
    try:
        name: str = json.loads(raw)
    except ValueError:
        return None
    return name
