"""What is wrong with a config, in the words of its file: TOML's, not the validator's."""

from collections.abc import Sequence

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from paste_proxy.errors import InputFault

_EXPECTED = {
    "tuple_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "string_type": "a text",
    "missing": "this key",
}
_Path = Sequence[int | str]


def config_fault(model: type[BaseModel], where: str, fault: ValidationError) -> InputFault:
    """The first fault that a config file has.

    Args:
        model: what the file was checked against.
        where: names the file.
    """
    first = fault.errors(include_url=False)[0]
    key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"] if part != "[key]")
    return InputFault(f"{where}: {key.removeprefix('.') or '(top)'}", _found(first), _expected(model, first))


def _found(first: ErrorDetails) -> str:
    match first["type"]:
        case "extra_forbidden":
            return "an unknown key"  # what stands there may be a secret
        case "missing":
            return "nothing"
        case _:
            return repr(first["input"])


def _expected(model: type[BaseModel], first: ErrorDetails) -> str:
    if first["type"] == "extra_forbidden":
        known = _keys(model, first["loc"][:-1])
        return "one of " + ", ".join(known) if known else "a key of this table"
    if first["type"] == "string_pattern_mismatch":
        return f"a text that matches {first['ctx']['pattern']}"
    said = first["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    return _EXPECTED.get(first["type"], said)


def _keys(model: type[BaseModel], path: _Path) -> list[str]:
    """The keys of the table at a path; none where the path leads elsewhere."""
    tables = [model]
    for part in path:
        inner = [table.model_fields[part].annotation for table in tables if part in table.model_fields]
        tables = [one for annotation in inner for one in _models(annotation)] or tables
    return list(tables[0].model_fields)


def _models(annotation: object) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [one for inner in getattr(annotation, "__args__", ()) for one in _models(inner)]
