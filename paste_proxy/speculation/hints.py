"""What a tool's server says of it: what a rule with `effect = "annotated"` believes, and which arguments it has."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Hints:
    """MCP's `readOnlyHint` and `openWorldHint`, with the protocol's defaults, and its schema."""

    read_only: bool = False
    open_world: bool = True
    arguments: frozenset[str] = frozenset()
    """Those that its schema names."""


NO_HINTS: Mapping[str, Hints] = MappingProxyType({})


def agreed(said: Iterable[Hints]) -> Hints:
    """What holds of a tool of which several connections to its server say something: the worst."""
    hints = list(said)
    if not hints:
        return Hints()
    return Hints(
        all(one.read_only for one in hints),
        any(one.open_world for one in hints),
        frozenset.intersection(*(one.arguments for one in hints)),
    )
