"""The hit rate with which the published saving would be reached.

A what-if: in place of what the predictor foresees, so many of the calls that may be run ahead are foreseen when the
turn that asks for them is ready, and nothing else is. Everything beyond is as in the system itself.
"""

from collections.abc import Iterator
from dataclasses import replace
from hashlib import blake2b

from paste_proxy.events.candidate import Candidate
from paste_proxy.sim.figures import Figures
from paste_proxy.sim.foresight import Foreseen, Moment
from paste_proxy.sim.scenario import Known, Scenario
from paste_proxy.sim.systems import System
from paste_proxy.speculation.policy import Policy

_ROUNDS = 5
_CONFIDENCE = 0.9


def needed_hits(scenario: Scenario, system: System, wanted_s: float, *, tail: bool) -> float | None:
    """The least share of all calls that would have to be hits; None: all that may be run ahead would not do.

    Args:
        wanted_s: the mean, or the 99th percentile, that is to be reached.
        tail: the latter is meant.
    """
    low, high = 0.0, 1.0
    best: float | None = None
    for step in range(_ROUNDS):
        share = high if step == 0 else (low + high) / 2
        figures = Figures(foretold(scenario, share).play(system))
        if (figures.p99_s if tail else figures.mean_s) <= wanted_s:
            high, best = share, float(str(figures.report()["hit_rate"]))
        elif step == 0:
            return None
        else:
            low = share
    return best


def foretold(scenario: Scenario, share: float) -> Scenario:
    """The same load, so many of its calls foreseen."""
    material = scenario.material
    known = tuple(replace(one, patterns=_foretold(one, material.policy, share)) for one in material.known)
    return replace(scenario, material=replace(material, known=known))


def _foretold(known: Known, policy: Policy, share: float) -> Foreseen:
    foreseen = Foreseen()
    for number, turn in enumerate(known.course.turns):
        moment = Moment(tuple(_candidates(known, policy, number, share)))
        before = known.course.turns[number - 1] if number else None
        if turn.heard or before is None:
            foreseen.heard[number] = moment
        elif before.calls:
            foreseen.answered[number - 1, len(before.calls) - 1] = moment
    return foreseen


def _candidates(known: Known, policy: Policy, number: int, share: float) -> Iterator[Candidate]:
    for order, call in enumerate(known.course.turns[number].calls):
        invocation = call.recorded.invocation
        digest = blake2b(
            f"{known.course.name} {number} {order}".encode("utf-8", "surrogatepass"), digest_size=8
        ).digest()
        if policy.rule_for(invocation).allowed and int.from_bytes(digest, "big") / 2**64 < share:
            yield Candidate(
                invocation=policy.core(invocation),
                confidence=_CONFIDENCE,
                source="foretold",
                expected_s=call.recorded.latency_s,
            )
