"""Where an argument may come from: an event chosen relative to the present (late binding, PASTE 4.1)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from paste_proxy.mining.material import Material
from paste_proxy.mining.window import ANY, CALL, OUTPUT, TURN, USER, Observation, Window

ORIGINS = (USER, TURN, OUTPUT, CALL)


@dataclass(frozen=True, slots=True)
class Source:
    """Kind of event and which of them: the latest, or each, latest first."""

    origin: str
    """`user` (a user's words), `turn` (what the model said), `output` (a tool's successful answer) or
    `call` (the arguments of a call)."""
    tool: str = ""
    """For `output` and `call`: the tool, or `*` for any."""
    each: bool = False

    def materials(self, window: Window) -> list[Material]:
        """The materials it names, latest first."""
        stamp = window.stamps.get((self.origin, self.tool))
        name = self.origin, self.tool, self.each
        kept = window.lasting.get(name)
        if kept is None or kept[1] != stamp:
            found = filter(None, map(self._material, reversed(window.observations)))
            kept = window.lasting[name] = self, stamp, list(found) if self.each else list(islice(found, 1))
        materials: list[Material] = kept[2]
        return materials

    def _material(self, seen: Observation) -> Material | None:
        if self.origin in (USER, TURN):
            return seen.said if seen.kind == self.origin else None
        if seen.kind != CALL or self.tool not in (ANY, seen.tool):
            return None
        if self.origin == CALL:
            return seen.asked
        return seen.said if seen.ok else None


def origins(seen: Observation) -> Iterator[tuple[Source, Material]]:
    """The sources, each meaning the latest event of its kind, that an observation can serve."""
    if seen.kind != CALL:
        if seen.said is not None:
            yield Source(seen.kind), seen.said
        return
    if seen.asked is not None:
        yield Source(CALL, seen.tool), seen.asked
    if seen.said is not None and seen.ok:
        yield Source(OUTPUT, seen.tool), seen.said
        yield Source(OUTPUT, ANY), seen.said
