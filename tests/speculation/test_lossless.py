"""Speculation changes nothing an agent sees and nothing a tool holds, whatever is guessed and when.

Two comparisons. Where the agents' own calls follow each other, the plain run has one outcome and the
speculative one must have exactly that. Where they overlap, each read must have seen a state that was there
between its asking and its answer.
"""

import json
from dataclasses import replace
from random import Random
from typing import get_args

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from paste_proxy.events.candidate import SEALED
from paste_proxy.events.types import Outcome
from paste_proxy.speculation.earlier import Earlier
from paste_proxy.speculation.effects import Effects
from paste_proxy.speculation.limits import ServerCapacity
from paste_proxy.speculation.policy import Policy, Ruling
from paste_proxy.speculation.sameness.sameness import Sameness
from paste_proxy.speculation.scheduler import Scheduler
from paste_proxy.speculation.types import Mode

from .playbook import limits
from .world import READS, RULES, SESSIONS, STAGED, TOUCHED, Begun, Guess, Step, Way, World

CI = settings(
    max_examples=2_000,
    derandomize=True,
    database=None,
    deadline=None,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
    suppress_health_check=[HealthCheck.too_slow],
)
HUNT = settings(CI, phases=(Phase.generate,))


def plan_of(seed: int, length: int, first_value: int = 1) -> list[Step]:
    """A random agent. Every write writes a value of its own."""
    random = Random(seed)
    steps = [_step(random, first_value + number) for number in range(length)]
    steps = [_again(random, step, steps[here - 1]) if here else step for here, step in enumerate(steps)]
    ahead = [steps[here:] for here in range(length)]
    guessed = [replace(step, guesses=_guesses(random, coming)) for step, coming in zip(steps, ahead, strict=True)]
    return [replace(step, begun=_begun(random, coming)) for step, coming in zip(guessed, ahead, strict=True)]


def _again(random: Random, step: Step, last: Step) -> Step:
    """Some agents look twice."""
    return replace(step, session=last.session, name="look", argument=0) if random.random() < 0.15 else step


def _step(random: Random, value: int) -> Step:
    name = random.choice(READS if random.random() < 0.55 else STAGED if random.random() < 0.4 else tuple(TOUCHED))
    (way,) = random.choices(WAYS, weights=WEIGHTS["read" if name in READS else "staged" if name in STAGED else "write"])
    return Step(
        session=random.choice(SESSIONS),
        name=name,
        argument=random.randrange(2) if name in READS else value,
        think_s=random.choice((0.0, 0.5, 3.0, 6.0)),
        way=way,
        part=random.randrange(8),
    )


def _guesses(random: Random, ahead: list[Step]) -> tuple[Guess, ...]:
    """Told around a step: of itself (in time or too late), of those after it, and of nothing that will be."""
    wild = Step(session="s", name=random.choice(tuple(TOUCHED)), argument=random.randrange(2), think_s=0)
    aims = random.choices([*ahead[:3], wild], k=random.randrange(5))
    return tuple(
        Guess(
            after_s=random.uniform(0, 9),
            session=aim.session,
            name=aim.name,
            argument=aim.argument,
            confidence=random.choice((0.05, 0.3, 0.9)),
            source=random.choice(("pattern", SEALED)),
            part=random.choice((0, aim.part)),
        )
        for aim in aims
    )


def _begun(random: Random, ahead: list[Step]) -> tuple[Begun, ...]:
    """What a stream is said to show around a step: the step's own call as a rule, or any other."""
    aims = random.choices(ahead[:2], weights=(4, 1)[: len(ahead)], k=random.randrange(3))
    return tuple(
        Begun(
            after_s=random.uniform(0, aim.think_s + 1),
            session=aim.session,
            name=aim.name if random.random() < 0.8 else random.choice(READS),
            argument=aim.argument,
            part=aim.part,
            known=random.random() < 0.7,
            whole=random.random() < 0.5,
            more=random.choice((0.0, 0.3)),
            likely=_guesses(random, ahead[:1]) if random.random() < 0.5 else (),
        )
        for aim in aims
    )


many = st.integers(0, 2**32)
plans = st.builds(plan_of, seed=many, length=st.integers(2, 12))
crowds = st.builds(
    lambda seeds, length: [plan_of(seed, length, 1 + 100 * number) for number, seed in enumerate(seeds)],
    seeds=st.lists(many, min_size=2, max_size=3),
    length=st.integers(2, 8),
)
capacities = st.sampled_from((None, 1, 2))

WAYS: tuple[Way, ...] = get_args(Way)
WEIGHTS = {"read": (40, 3, 5, 1), "staged": (12, 0, 1, 1), "write": (12, 4, 4, 1)}
"""A run that its agent gives up is stopped or not, which leaves two states of the world that are right."""
POLICY = Policy.parse(RULES, "world")


def world(mode: Mode, seed: int, total: int | None, faults: float = 0.1, *, proof: bool = False) -> World:
    bounds = limits(slots=3, ttl_s=15.0, held_results=3)
    slots = {"box": ServerCapacity(total=total, speculative=2)}
    return World(Scheduler(POLICY, bounds, mode, slots), seed, faults, proof=proof)


def check_same_outcome(plan: list[Step], seed: int, total: int | None) -> World:
    plain = world(Mode.OFF, seed, total).play(plan)
    ahead = world(Mode.SPECULATE, seed, total).play(plan)
    watched = world(Mode.OBSERVE, seed, total).play(plan)
    for other in (ahead, watched):
        assert [_answer(seen.body, seen.step) for seen in other.seen] == [
            _answer(seen.body, seen.step) for seen in plain.seen
        ]
        assert other.cells == plain.cells
    assert all(settled.shadow for settled in watched.settled.values())
    return ahead


def _answer(body: bytes | None, step: Step) -> bytes | None:
    """What the agent used of an answer: one it has given up waiting for counts as none."""
    return body if step.way == "called" else None


def check_reads_are_of_their_time(agents: list[list[Step]], seed: int, total: int | None) -> World:
    ahead = world(Mode.SPECULATE, seed, total, proof=True).play(*agents)
    for seen in ahead.seen:
        if seen.body is None or seen.answered_at is None or seen.step.name not in READS:
            continue
        during = _states_between(ahead, seen.asked_at, seen.answered_at)
        answer = _cells(seen.body)
        assert any(answer <= state.items() for state in during), (seen, during)
    return ahead


def _cells(body: bytes) -> set[tuple[str, int]]:
    """The cells that an answer shows, whatever its form."""
    said = json.loads(body)
    if isinstance(said, dict):
        return set(said.items())
    lines = [line.split() for line in said.splitlines() if not line.startswith(("[exit", "not both"))]
    return {(cell, int(value)) for cell, value in lines}


def _states_between(ahead: World, start: float, end: float) -> list[dict[str, int]]:
    until = [at for at, _ in ahead.states[1:]] + [float("inf")]
    return [state for (at, state), gone in zip(ahead.states, until, strict=True) if at <= end and gone >= start]


@CI
@given(plan=plans, seed=many, total=capacities)
def test_speculation_changes_neither_history_nor_state(plan: list[Step], seed: int, total: int | None) -> None:
    check_same_outcome(plan, seed, total)


@CI
@given(agents=crowds, seed=many, total=capacities)
def test_overlapping_reads_see_a_state_of_their_own_time(
    agents: list[list[Step]], seed: int, total: int | None
) -> None:
    check_reads_are_of_their_time(agents, seed, total)


def test_the_worlds_do_speculate() -> None:
    """The two properties above mean something only if results are in fact reused, promoted and thrown away."""
    outcomes: list[Outcome] = []
    told: list[int] = []
    again: list[int] = []
    committed: list[int] = []
    in_vain: list[int] = []

    @settings(HUNT, max_examples=200)
    @given(plan=plans, seed=many, total=capacities)
    def collect(plan: list[Step], seed: int, total: int | None) -> None:
        ahead = check_same_outcome(plan, seed, total)
        outcomes.extend(end.outcome for end in ahead.settled.values())
        told.append(ahead.told)
        again.append(ahead.again)
        committed.append(ahead.committed)
        in_vain.append(ahead.in_vain)

    collect()
    assert sum(told) >= 5
    assert sum(again) >= 5
    assert sum(committed) >= 10
    assert sum(in_vain) >= 5
    for outcome in (Outcome.REUSED, Outcome.PROMOTED, Outcome.DISCARDED):
        assert outcomes.count(outcome) >= 20
    assert outcomes.count(Outcome.PREEMPTED) >= 1


def _never(*_: object) -> bool:
    return False


def _nothing(*_: object) -> None:
    return None


@pytest.mark.parametrize(("guard", "broken"), [("moved", _never), ("dirty", _never), ("linger", _nothing)])
def test_without_a_guard_of_effects_a_violation_is_found(
    monkeypatch: pytest.MonkeyPatch, guard: str, broken: object
) -> None:
    monkeypatch.setattr(Effects, guard, broken)

    @HUNT
    @given(plan=plans, seed=many, total=capacities)
    def hunt(plan: list[Step], seed: int, total: int | None) -> None:
        check_same_outcome(plan, seed, total)

    with pytest.raises(AssertionError):
        hunt()


@pytest.mark.parametrize(
    ("owner", "guard", "broken"),
    [
        (Ruling, "rests_on", lambda ruling, session, invocation: ruling.read_by(session, invocation)),
        (Sameness, "does_all", lambda self, asked, result: True),
        (Earlier, "_reads", lambda self, call: frozenset()),
    ],
)
def test_without_a_guard_of_staged_runs_or_earlier_answers_a_violation_is_found(
    monkeypatch: pytest.MonkeyPatch, owner: type, guard: str, broken: object
) -> None:
    monkeypatch.setattr(owner, guard, broken)

    @settings(HUNT, max_examples=10_000)
    @given(plan=plans, seed=many, total=capacities)
    def hunt(plan: list[Step], seed: int, total: int | None) -> None:
        check_same_outcome(plan, seed, total)

    with pytest.raises(AssertionError):
        hunt()


def test_a_result_of_another_call_served_as_it_is_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sameness, "derived", lambda self, asked, ran, result, ran_s: result)

    @HUNT
    @given(plan=plans, seed=many, total=capacities)
    def hunt(plan: list[Step], seed: int, total: int | None) -> None:
        check_same_outcome(plan, seed, total)

    with pytest.raises(AssertionError):
        hunt()
