"""Tools as any wire offers them, in the form of Chat Completions.

Every wire describes a tool by a name, a description and a JSON schema; only the places differ.
"""

from collections.abc import Iterable, Iterator
from math import isfinite

from paste_proxy.events.values import Json
from paste_proxy.wire.gemini_fields import field_of
from paste_proxy.wire.loose import listing, mapping, mended, string
from paste_proxy.wire.responses_items import spelled

_SCHEMAS = ("parameters", "input_schema", "parametersJsonSchema", "inputSchema")
_TYPES = {"OBJECT", "STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "NULL"}
"""How Gemini's older schemas spell JSON's types."""
_DEEPEST = 32
_FREE: dict[str, Json] = {
    "type": "object",
    "properties": {"input": {"type": "string"}},
    "required": ["input"],
}
"""Of a tool that takes a text as it is: its calls are read as having this one argument."""


def chat_tools(entries: Iterable[Json], namespace: str = "") -> Iterator[dict[str, Json]]:
    """The tools with a name that entries of `tools` offer; what a vendor runs has none.

    Args:
        namespace: what stands before their names.
    """
    for entry in map(mapping, entries):
        declared = listing(field_of(entry, "functionDeclarations"))
        if declared:
            yield from chat_tools(declared)
        elif entry.get("type") == "namespace":
            yield from chat_tools(listing(entry.get("tools")), string(entry.get("name")))
        else:
            inner = mapping(entry.get("function")) or mapping(entry.get("custom")) or entry
            if name := string(inner.get("name")):
                free = entry.get("type") == "custom"
                yield _tool(spelled(namespace, name), inner, _FREE if free else _schema(inner))


def name_of_tool(tool: dict[str, Json]) -> str:
    """The name of a tool in the form of Chat Completions."""
    return string(mapping(tool.get("function")).get("name"))


def shortened(tool: dict[str, Json], longest: int) -> dict[str, Json]:
    """The tool with its description cut and those of its arguments left out."""
    function = mapping(tool.get("function"))
    schema = _without_descriptions(function.get("parameters"), _DEEPEST)
    return _tool(string(function.get("name")), function, mapping(schema), longest)


def _tool(name: str, fields: dict[str, Json], schema: dict[str, Json], longest: int | None = None) -> dict[str, Json]:
    function: dict[str, Json] = {"name": name, "description": string(fields.get("description"))[:longest]}
    return {"type": "function", "function": {**function, "parameters": schema}}


def _schema(fields: dict[str, Json]) -> dict[str, Json]:
    found = next((schema for key in _SCHEMAS if (schema := mapping(field_of(fields, key)))), None)
    return {"type": "object", "properties": {}} if found is None else mapping(_plain(found, _DEEPEST))


def _plain(value: Json, depth: int) -> Json:
    """A schema with its types in small letters, its texts whole, and nothing in it that JSON cannot say."""
    match value:
        case dict() if depth:
            inside = {mended(key): _plain(inner, depth - 1) for key, inner in value.items()}
            kind = inside.get("type")
            return {**inside, "type": kind.lower()} if isinstance(kind, str) and kind in _TYPES else inside
        case list() if depth:
            return [_plain(inner, depth - 1) for inner in value]
        case str():
            return mended(value)
        case dict() | list():
            return None
        case float() if not isfinite(value):
            return None
    return value


def _without_descriptions(value: Json, depth: int) -> Json:
    """A schema without the texts in it that describe; an argument may be called `description` itself."""
    if depth and isinstance(value, dict):
        return {
            key: _without_descriptions(inner, depth - 1)
            for key, inner in value.items()
            if not (key == "description" and isinstance(inner, str))
        }
    if depth and isinstance(value, list):
        return [_without_descriptions(inner, depth - 1) for inner in value]
    return value
