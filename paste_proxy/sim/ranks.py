"""How high the call that comes next stands among what is foreseen when the turn that asks for it is ready."""

from collections.abc import Iterator
from dataclasses import dataclass

from paste_proxy.events.values import Json
from paste_proxy.sim.foresight import Candidates
from paste_proxy.sim.scenario import Known, Material

_FEW = 3


@dataclass(frozen=True, slots=True)
class Ranks:
    """Calls, and those of them that stood first, and among the first three."""

    calls: int
    first: int
    among_three: int

    def report(self) -> dict[str, Json]:
        """As shares of the calls."""
        of = max(1, self.calls)
        return {"top1": round(self.first / of, 4), "top3": round(self.among_three / of, 4)}


def ranks(material: Material) -> Ranks:
    """Over all recorded sessions, the first call of each turn."""
    found = [rank for known in material.known for rank in _of(known, material)]
    return Ranks(
        calls=len(found),
        first=sum(rank == 0 for rank in found),
        among_three=sum(rank is not None and rank < _FEW for rank in found),
    )


def _of(known: Known, material: Material) -> Iterator[int | None]:
    for number, turn in enumerate(known.course.turns):
        if not turn.calls:
            continue
        key = material.policy.core(turn.calls[0].recorded.invocation).key
        ordered = sorted(_before(known, number), key=lambda one: -one.confidence)
        yield next((rank for rank, one in enumerate(ordered) if one.invocation.key == key), None)


def _before(known: Known, number: int) -> Candidates:
    """What the last thing that happened before a turn makes likely."""
    foreseen, before = known.patterns, known.course.turns[number - 1] if number else None
    if before is None or known.course.turns[number].heard:
        moment = foreseen.heard.get(number)
    elif before.calls:
        moment = foreseen.answered.get((number - 1, len(before.calls) - 1))
    else:
        moment = foreseen.said.get(number - 1)
    return moment.candidates if moment is not None else ()
