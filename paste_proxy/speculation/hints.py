"""What a tool's server says of it, as far as a rule with `effect = "annotated"` believes it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Hints:
    """MCP's `readOnlyHint` and `openWorldHint`, with the protocol's defaults."""

    read_only: bool = False
    open_world: bool = True


NO_HINTS: Mapping[str, Hints] = MappingProxyType({})


def agreed(said: Iterable[Hints]) -> Hints:
    """What holds of a tool of which several connections to its server say something: the worst."""
    hints = list(said)
    return Hints(bool(hints) and all(one.read_only for one in hints), any(one.open_world for one in hints) or not hints)
