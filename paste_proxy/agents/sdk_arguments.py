"""A Python call's arguments as the JSON object an LLM would have written, and back.

Only what survives the way exactly counts as JSON: a tuple would come back as a list, an enum as its
value, and the job would then not be the call.
"""

from collections.abc import Mapping
from inspect import BoundArguments, Parameter, Signature
from json import dumps
from math import isfinite
from typing import Any

from paste_proxy.events.values import Json

_PLAIN = (str, int, float)


def as_json(arguments: object, *, longest: int) -> dict[str, Json] | None:
    """A copy of a JSON object; None if it is not exactly JSON, or longer than so many characters as text."""
    try:
        copy = _copied(arguments)
        if isinstance(copy, dict) and len(dumps(copy)) <= longest:
            return copy
    except (TypeError, ValueError, RecursionError):
        pass
    return None


def _copied(value: object) -> Json:
    kind = type(value)
    if value is None or kind is bool or kind is int:
        return value  # type: ignore[return-value]
    if isinstance(value, str) and kind is str:
        value.encode()
        return value
    if isinstance(value, float) and kind is float and isfinite(value):
        return value
    if isinstance(value, list) and kind is list:
        return [_copied(item) for item in value]
    if isinstance(value, dict) and kind is dict and all(type(key) is str for key in value):
        return {key: _copied(item) for key, item in value.items()}
    raise TypeError(f"{kind.__name__} is not JSON")


def named(signature: Signature, args: tuple[object, ...], kwargs: Mapping[str, object]) -> dict[str, object] | None:
    """A call's arguments by parameter name, defaults left out; None if some have no name or do not fit."""
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        return None
    arguments: dict[str, object] = {}
    for name, value in bound.arguments.items():
        match signature.parameters[name].kind:
            case Parameter.VAR_POSITIONAL:
                return None
            case Parameter.VAR_KEYWORD:
                if arguments.keys() & value.keys():
                    return None
                arguments.update(value)
            case _:
                arguments[name] = value
    return arguments


def spread(signature: Signature, arguments: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional and keyword arguments for a call by name; what the signature does not name stays a keyword."""
    extra = dict(arguments)
    known = {name: extra.pop(name) for name in signature.parameters if name in extra}
    bound = BoundArguments(signature, known)
    return bound.args, {**bound.kwargs, **extra}


def without_defaults(
    signature: Signature, arguments: Mapping[str, object], written: Mapping[str, object]
) -> dict[str, object]:
    """A call's arguments without those that are the parameter's default and were not written."""
    return {
        name: value
        for name, value in arguments.items()
        if name in written or name not in signature.parameters or not _same(value, signature.parameters[name].default)
    }


def _same(value: object, default: object) -> bool:
    """Never asks a value of an unknown kind, which may say anything."""
    return value is default or (type(value) is type(default) and type(value) in _PLAIN and value == default)
