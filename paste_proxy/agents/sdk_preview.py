"""What a value looks like to the sidecar: text for mining, bounded, never an error."""

import json
from inspect import isasyncgen, isawaitable, isgenerator

import orjson

from paste_proxy.agents.protocol import PREVIEW_CHARS

_ENCODER = json.JSONEncoder(default=str, skipkeys=True)


def preview(value: object, *, longest: int = PREVIEW_CHARS) -> str:
    """Text as it is, an exception as its message, anything else as JSON where it has that form.

    Objects that JSON does not know appear as their `str`. More than `longest` characters are cut off.
    """
    try:
        if isinstance(value, str):
            return value[:longest]
        if isinstance(value, BaseException):
            return f"{type(value).__name__}: {value}"[:longest]
        return _json(value, longest)
    except Exception:  # noqa: BLE001  a value's own str may raise anything
        return json.dumps(f"({type(value).__qualname__})")


def _json(value: object, longest: int) -> str:
    try:
        return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS).decode()[:longest]
    except TypeError:  # integers beyond 64 bits, keys of other types
        return _slow_json(value, longest)


def _slow_json(value: object, longest: int) -> str:
    parts: list[str] = []
    room = longest
    for part in _ENCODER.iterencode(value):
        parts.append(part[:room])
        room -= len(part)
        if room <= 0:
            break
    return "".join(parts)


def unfinished(value: object) -> bool:
    """Whether the work is still to come: the function returned, but only a promise."""
    return isawaitable(value) or isgenerator(value) or isasyncgen(value)
