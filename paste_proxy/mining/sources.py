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
            found = self._found(window)
            kept = window.lasting[name] = self, stamp, list(found) if self.each else list(islice(found, 1))
        materials: list[Material] = kept[2]
        return materials

    def _found(self, window: Window) -> Iterator[Material]:
        origin, tool = self.origin, self.tool
        latest_first = reversed(window.observations)
        if origin in (USER, TURN):
            return (seen.said for seen in latest_first if seen.kind == origin and seen.said is not None)
        calls = (seen for seen in latest_first if seen.kind == CALL and (seen.tool == tool or tool == ANY))
        if origin == CALL:
            return (seen.asked for seen in calls if seen.asked is not None)
        return (seen.said for seen in calls if seen.said is not None and seen.ok)


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
