"""What is wrong with a config, in the words of its file: TOML's, not the validator's."""

import json
from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from paste_proxy.errors import InputFault

_EXPECTED = {
    "string_type": "a text, in quotes",
    "path_type": "a path, in quotes",
    "missing": "this key",
    **dict.fromkeys(("bool_type", "bool_parsing"), "true or false"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float", "int_parsing_size"), "a whole number"),
    **dict.fromkeys(("float_type", "float_parsing"), "a number"),
}
_Path = Sequence[int | str]
_LONGEST_REPEATED = 200
_COMMAND = "command"
"""The one list of texts whose parts a person may write as one text."""


def config_fault(model: type[BaseModel], where: str, fault: ValidationError) -> InputFault:
    """The first fault that a config file has.

    Args:
        model: what the file was checked against.
        where: names the file.
    """
    first = fault.errors(include_url=False)[0]
    key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in _path(first))
    return InputFault(f"{where}: {key.removeprefix('.') or '(top)'}", _found(first), _expected(model, first))


def _path(first: ErrorDetails) -> _Path:
    return [part for part in first["loc"] if part != "[key]"]


def _found(first: ErrorDetails) -> str:
    """What stands there; of tables only their keys and of unknown keys nothing, since it may be a secret."""
    value = first["input"]
    if first["type"] == "extra_forbidden":
        return "an unknown key"
    if first["type"] == "missing":
        return "nothing"
    if isinstance(value, dict):
        return f"a table with {', '.join(map(str, value))}" if value else "an empty table"
    if isinstance(value, list) and any(isinstance(one, dict) for one in value):
        return "a list of tables"
    return repr(value)


def _expected(model: type[BaseModel], first: ErrorDetails) -> str:
    path, kind = _path(first), first["type"]
    said = first["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    match kind:
        case "extra_forbidden":
            return _instead(model, path)
        case "tuple_type":
            return _list(model, path, first["input"])
        case "dict_type":
            inside = any(_models(one) for one in _annotations(model, path))
            return f"tables [{_named(path)}.NAME], in single brackets" if inside else "a table"
        case "model_type" | "model_attributes_type":
            return _one_table(model, path)
        case "greater_than" | "greater_than_equal" | "less_than" | "less_than_equal" | "finite_number":
            return said if said.startswith("a ") else f"a number {said}"
    return _EXPECTED.get(kind, said)


def _instead(model: type[BaseModel], path: _Path) -> str:
    """What may have been meant by an unknown key, and the known ones."""
    known, wrong = _keys(model, path[:-1]), str(path[-1])
    listed = "the keys here are " + ", ".join(known)
    if close := get_close_matches(wrong, known, n=1):
        return f"{close[0]}, most likely; {listed}"
    homes = [name for name, field in model.model_fields.items() if _has(field.annotation, wrong)]
    return f"{wrong} below [{homes[0]}]; {listed}" if homes and homes[0] != path[0] else f"another key; {listed}"


def _has(annotation: object, key: str) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel) and key in annotation.model_fields


def _list(model: type[BaseModel], path: _Path, value: object) -> str:
    if any(_models(one) for one in _annotations(model, path)):
        return f"tables [[{_named(path)}]], in double brackets"
    if not isinstance(value, str) or len(value) > _LONGEST_REPEATED:
        return "a list of texts"
    parts = value.split() if path[-1] == _COMMAND else [value]
    return f"a list: {json.dumps(parts, ensure_ascii=False)}"


def _one_table(model: type[BaseModel], path: _Path) -> str:
    if isinstance(path[-1], int):
        return f"a table [[{_named(path[:-1])}]]"
    if len(path) > 1:
        return f"one table for each name, [{_named(path[:-1])}.NAME], in single brackets"
    return f"one table [{_named(path)}], in single brackets"


def _named(path: _Path) -> str:
    return ".".join(str(part) for part in path)


def _keys(model: type[BaseModel], path: _Path) -> list[str]:
    """The keys of the table at a path."""
    tables = [one for annotation in _annotations(model, path) for one in _models(annotation)] if path else [model]
    return [name for table in tables for name in table.model_fields]


def _annotations(model: type[BaseModel], path: _Path) -> Iterator[object]:
    """What may stand at a path, the names and numbers of entries left out."""
    tables = [model]
    found: list[object] = []
    for part in path:
        inner: list[object] = [table.model_fields[part].annotation for table in tables if part in table.model_fields]
        if inner:
            found, tables = inner, [one for annotation in inner for one in _models(annotation)]
    yield from found


def _models(annotation: object) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [one for inner in getattr(annotation, "__args__", ()) for one in _models(inner)]
