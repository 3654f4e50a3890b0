"""Everything that the systems have in common: sessions, what is foreseen of them, times, and when they come."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random

from paste_proxy.bench.latency import PAPER_TOOL_SHARE
from paste_proxy.bench.script import build_script
from paste_proxy.config import Speculating
from paste_proxy.importers.neutral import RecordedSession
from paste_proxy.mining.groups import groups_of
from paste_proxy.mining.pool import Pool
from paste_proxy.sim.arrivals import Pattern, arrival_times
from paste_proxy.sim.batching import Engine
from paste_proxy.sim.course import Course, CourseCall, course_of, thinking_for
from paste_proxy.sim.engine_model import PAPER, EngineModel
from paste_proxy.sim.foresight import Foreseen, foresee
from paste_proxy.sim.memo import Memo
from paste_proxy.sim.spelling import Spelling
from paste_proxy.sim.systems import Ahead, System
from paste_proxy.sim.tool_side import After, ToolSide
from paste_proxy.sim.tool_times import ToolTimes
from paste_proxy.sim.world import Arrival, World
from paste_proxy.speculation.limits import SpeculationLimits
from paste_proxy.speculation.policy import Policy
from paste_proxy.speculation.scheduler import Scheduler
from paste_proxy.speculation.types import Mode

TOOL_SHARE = sum(PAPER_TOOL_SHARE) / 2
"""Of the time of a session that is alone: the middle of what PASTE measured."""


@dataclass(frozen=True, slots=True)
class Known:
    """A recorded session, and what is foreseen in it."""

    course: Course
    coming: dict[str, CourseCall]
    patterns: Foreseen
    sequences: Foreseen


@dataclass(frozen=True, slots=True)
class Material:
    """The recorded sessions of a workload, ready to be played."""

    known: tuple[Known, ...]
    policy: Policy
    thinking: float
    """Tokens that each turn begins with, beside what was recorded."""


def prepare(
    recordings: Sequence[RecordedSession],
    policy: Policy,
    pools: Sequence[Pool],
    spelling: Spelling,
    on_session: Callable[[], None] = lambda: None,
) -> Material:
    """What the predictor foresees in each session is worked out here, once.

    Args:
        pools: for each session one that was mined without it.
    """
    scripts = [build_script(one.id, one.events) for one in recordings]
    plain = [course_of(script, spelling) for script in scripts]
    times = ToolTimes(0, (call.recorded for course in plain for call in course.calls))
    tools_s = sum(times.of(course.name, call.recorded) for course in plain for call in course.calls)
    thinking = thinking_for(plain, tools_s, TOOL_SHARE, PAPER.step_seconds(1))
    courses = [course_of(script, spelling, thinking) for script in scripts]
    tools = {call.recorded.invocation.tool for course in courses for call in course.calls}
    groups = groups_of(recordings)
    known = []
    for at, course in enumerate(courses):
        others = [one for one, group in zip(courses, groups, strict=True) if group != groups[at]]
        known.append(
            Known(
                course=course,
                coming={policy.core(call.recorded.invocation).key: call for call in reversed(course.calls)},
                patterns=foresee(course, pools[at], policy, spelling, tools),
                sequences=Memo(others).foresee(course),
            )
        )
        on_session()
    return Material(tuple(known), policy, thinking)


@dataclass(frozen=True)
class Scenario:
    """One load, the same for all systems."""

    material: Material
    engine: EngineModel
    sessions: int
    seed: int = 1
    pattern: Pattern = Pattern.TOGETHER
    shared: bool = False
    """Whether all sessions are behind one sidecar."""

    def play(self, system: System) -> list[World]:
        """All sessions, as the system serves them.

        Where they are fewer than the recordings, as often as it takes for each of these to have been played.
        """
        rounds = max(1, len(self.material.known) // self.sessions)
        return [self._play(system, number) for number in range(rounds)]

    def _play(self, system: System, number: int) -> World:
        world = World(Engine(self.engine), system.gate(self.engine), lambda now, after: self._tools(system, now, after))
        times = self._times(number)
        first = number * self.sessions
        return world.play([self._arrival(at, first + place, system) for place, at in enumerate(times)])

    @cached_property
    def _chosen(self) -> list[Known]:
        """Which recording each session follows: all of them about equally often, in an order of the seed's."""
        known, random, chosen = self.material.known, Random(self.seed), list[Known]()  # noqa: S311  the same in every run
        while len(chosen) < max(self.sessions, len(known)):
            chosen += random.sample(known, len(known))
        return chosen

    def _times(self, number: int) -> list[float]:
        gap_s = self.alone_s / self.sessions
        return arrival_times(self.pattern, self.sessions, gap_s, Random(f"{self.seed} arrivals {number}"))  # noqa: S311

    @cached_property
    def alone_s(self) -> float:
        """What a session takes about when it is alone: as many as are played come within that time."""
        step_s = self.engine.step_seconds(1)
        calls_s = sum(
            self._tool_times.of("", call.recorded) for one in self.material.known for call in one.course.calls
        )
        written = sum(one.course.answers_tokens for one in self.material.known)
        return (calls_s + written * step_s) / len(self.material.known)

    @cached_property
    def _tool_times(self) -> ToolTimes:
        recorded = (call.recorded for one in self.material.known for call in one.course.calls)
        return ToolTimes(self.seed, recorded)

    def _arrival(self, at: float, number: int, system: System) -> Arrival:
        one = self._chosen[number]
        foreseen = {Ahead.NOTHING: None, Ahead.SEQUENCES: one.sequences, Ahead.PATTERNS: one.patterns}[system.ahead]
        return Arrival(
            at=at, name=f"{number}:{one.course.name}", course=one.course, coming=one.coming, foreseen=foreseen
        )

    def _tools(self, system: System, now: Callable[[], float], after: After) -> ToolSide:
        mode = Mode.OFF if system.ahead is Ahead.NOTHING else Mode.SPECULATE
        return ToolSide(
            lambda: scheduler(self.material.policy, mode),
            self.material.policy,
            self._tool_times,
            now=now,
            after=after,
            shared=self.shared,
        )


def scheduler(policy: Policy, mode: Mode) -> Scheduler:
    """A sidecar's, with the slots and bounds that it has by default."""
    usual = Speculating()
    limits = SpeculationLimits(
        slots=usual.slots,
        candidates=usual.candidates,
        min_confidence=usual.min_confidence,
        min_benefit_s=usual.min_benefit_s,
        ttl_s=usual.ttl_s,
        result_bytes=usual.result_bytes,
        held_bytes=usual.held_bytes,
        held_results=usual.held_results,
    )
    return Scheduler(policy, limits, mode, {})
