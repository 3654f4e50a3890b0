"""The tools that an MCP server lists, and whether they may take arguments that they do not name."""

from dataclasses import dataclass

from paste_proxy.events.values import Json
from paste_proxy.wire.jsonspans import members
from paste_proxy.wire.loose import listing, mapping, read, string

_SAYS_NOTHING = {
    "type",
    "properties",
    "required",
    "title",
    "description",
    "$schema",
    "$id",
    "$comment",
    "$defs",
    "definitions",
    "default",
    "examples",
}
"""Keywords of an object's schema that let no argument in or keep none out beside the named ones."""
_CLOSING = {"additionalProperties", "unevaluatedProperties"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTool:
    """A tool as its server describes it. Hints are only hints; absent ones have the protocol's defaults."""

    name: str
    read_only: bool = False
    destructive: bool = True
    idempotent: bool = False
    open_world: bool = True
    task_required: bool = False
    """It can be called as a task only."""
    mirrored: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """HTTP headers that repeat an argument (`x-mcp-header`): header name, path of the argument."""
    arguments: frozenset[str] = frozenset()
    """The arguments that its input schema names."""
    takes_others: bool = False
    """The schema says that it may take others too, or says more than is understood here."""


def listed_tools(result_raw: bytes) -> tuple[ListedTool, ...]:
    """The tools in a `tools/list` response's `result`; entries without a name are left out."""
    entries = (mapping(entry) for entry in listing(mapping(read(result_raw)).get("tools")))
    return tuple(_listed(entry) for entry in entries if string(entry.get("name")))


def next_cursor(result_raw: bytes) -> str | None:
    """Where a list goes on, None at its end."""
    return string(read((members(result_raw) or {}).get("nextCursor", b""))) or None


def _listed(entry: dict[str, Json]) -> ListedTool:
    hints, schema = mapping(entry.get("annotations")), mapping(entry.get("inputSchema"))

    def hint(name: str, default: bool) -> bool:
        value = hints.get(name)
        return value if isinstance(value, bool) else default

    return ListedTool(
        name=string(entry.get("name")),
        read_only=hint("readOnlyHint", False),
        destructive=hint("destructiveHint", True),
        idempotent=hint("idempotentHint", False),
        open_world=hint("openWorldHint", True),
        task_required=mapping(entry.get("execution")).get("taskSupport") == "required",
        mirrored=tuple(_mirrored(schema)),
        arguments=frozenset(mapping(schema.get("properties"))),
        takes_others=_takes_others(schema),
    )


def _takes_others(schema: dict[str, Json]) -> bool:
    understood = schema.keys() <= _SAYS_NOTHING | _CLOSING
    return not understood or any(schema[keyword] is not False for keyword in _CLOSING if keyword in schema)


def _mirrored(schema: dict[str, Json]) -> list[tuple[str, tuple[str, ...]]]:
    """The `x-mcp-header` marks of an input schema, on properties and properties of properties."""
    found: list[tuple[str, tuple[str, ...]]] = []
    ahead: list[tuple[tuple[str, ...], dict[str, Json]]] = [((), schema)]
    while ahead:
        path, node = ahead.pop()
        for name, value in mapping(node.get("properties")).items():
            inner = mapping(value)
            if token := string(inner.get("x-mcp-header")):
                found.append((f"Mcp-Param-{token}", (*path, name)))
            ahead.append(((*path, name), inner))
    return found
