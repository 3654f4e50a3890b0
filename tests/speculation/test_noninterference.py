"""Speculation takes nothing from the agents' own calls: open-loop arrivals at servers of few slots."""

from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from paste_proxy.events.types import Outcome
from paste_proxy.speculation.budgets.budgets import NO_BUDGET, BudgetLimits
from paste_proxy.speculation.calls import Calls
from paste_proxy.speculation.lanes import Call, Lane
from paste_proxy.speculation.ledger import Job
from paste_proxy.speculation.limits import ServerCapacity
from paste_proxy.speculation.policy import Policy
from paste_proxy.speculation.scheduler import Scheduler
from paste_proxy.speculation.types import Command, Mode, Reason

from .playbook import limits
from .world import READS, RULES, SESSIONS, TOUCHED, Begun, Guess, Step, World

CI = settings(max_examples=1_000, derandomize=True, database=None, deadline=None)
POLICY = Policy.parse(RULES, "world")
RUN_EACH_TIME = tuple(name for name in READS if name != "look")
"""Of the others an answer may serve again, so that a call starts never."""
NEVER_ASKED = 99
ROUNDING_S = 1e-9


def arrivals(seed: int, length: int, *, matching: bool) -> list[list[Step]]:
    """One call an agent, at times of its own, with guesses told at any time."""
    random = Random(seed)
    calls = [
        Step(
            session=random.choice(SESSIONS),
            name=random.choice(RUN_EACH_TIME if random.random() < 0.8 else sorted(set(TOUCHED) - {"look"})),
            argument=random.randrange(4),
            think_s=random.uniform(0, 2.0 * length),
        )
        for _ in range(length)
    ]
    return [[_with_guesses(random, call, calls, matching=matching)] for call in calls]


def _with_guesses(random: Random, call: Step, calls: list[Step], *, matching: bool) -> Step:
    aims = random.choices(calls, k=random.randrange(6))
    guesses = tuple(
        Guess(
            after_s=max(0.0, aim.think_s - random.uniform(-1, 8)),
            session=aim.session,
            name=aim.name,
            argument=aim.argument if matching else NEVER_ASKED,
            confidence=random.choice((0.3, 0.9)),
            source="pattern",
        )
        for aim in aims
    )
    begun = tuple(
        Begun(
            after_s=max(0.0, aim.think_s - random.uniform(-1, 4)),
            session=aim.session,
            name=aim.name,
            argument=aim.argument if matching else NEVER_ASKED,
            known=random.random() < 0.5,
            whole=False,
            more=random.choice((0.0, 0.5)),
            likely=guesses[:2],
        )
        for aim in random.choices(calls, k=random.randrange(3))
    )
    return Step(call.session, call.name, call.argument, call.think_s, guesses=guesses, begun=begun)


def play(
    mode: Mode,
    agents: list[list[Step]],
    seed: int,
    slots: int,
    budget: BudgetLimits = NO_BUDGET,
    policy: Policy = POLICY,
) -> World:
    capacities = {"box": ServerCapacity(total=slots, speculative=3)}
    scheduler = Scheduler(policy, limits(slots=5, ttl_s=20.0), mode, capacities, budget)
    return World(scheduler, seed, faults=0.0, steady=True, commit_s=0.0).play(*agents)


ALLOTTED = Policy.parse(
    RULES.replace('effect = "read"', 'effect = "read"\nrate_limit = 4\ncalls_per_session = 2\ncost = 1.0'), "world"
)
budgets = st.builds(
    BudgetLimits,
    calls_per_minute=st.integers(1, 4) | st.none(),
    calls_per_day=st.integers(1, 9) | st.none(),
    money_per_session=st.integers(0, 3).map(float) | st.none(),
    bytes_per_day=st.integers(1, 99) | st.none(),
    wasted_s_per_minute=st.floats(0.1, 20.0) | st.none(),
)
loads = st.tuples(st.integers(0, 2**32), st.integers(3, 16))
slots_of_server = st.integers(1, 3)


def check_no_interference(load: tuple[int, int], slots: int) -> None:
    agents = arrivals(*load, matching=False)
    plain = play(Mode.OFF, agents, load[0], slots)
    for mode in (Mode.SPECULATE, Mode.OBSERVE):
        ahead = play(mode, agents, load[0], slots)
        assert [seen.started_at for seen in ahead.seen] == [seen.started_at for seen in plain.seen]
        assert ahead.busiest <= slots


@CI
@given(load=loads, slots=slots_of_server)
def test_wrong_guesses_move_no_start_of_a_call(load: tuple[int, int], slots: int) -> None:
    check_no_interference(load, slots)


@CI
@given(load=loads, slots=slots_of_server, budget=budgets)
def test_no_budget_moves_a_start_of_a_call(load: tuple[int, int], slots: int, budget: BudgetLimits) -> None:
    agents = arrivals(*load, matching=False)
    plain = play(Mode.OFF, agents, load[0], slots)
    for mode in (Mode.SPECULATE, Mode.OBSERVE):
        ahead = play(mode, agents, load[0], slots, budget, ALLOTTED)
        assert [seen.started_at for seen in ahead.seen] == [seen.started_at for seen in plain.seen]


def test_the_budgets_do_refuse() -> None:
    reasons = Counter[Reason]()
    for seed in range(60):
        budget = (
            BudgetLimits(calls_per_minute=3),
            BudgetLimits(money_per_session=2.0),
            BudgetLimits(wasted_s_per_minute=1.0),
        )[seed % 3]
        reasons += play(Mode.SPECULATE, arrivals(seed, 16, matching=False), seed, 2, budget, ALLOTTED).refused
    for reason in (Reason.CALLS, Reason.MONEY, Reason.WASTE, Reason.RATE):
        assert reasons[reason] >= 5


@CI
@given(load=loads, slots=slots_of_server)
def test_right_guesses_make_no_answer_later(load: tuple[int, int], slots: int) -> None:
    agents = arrivals(*load, matching=True)
    plain = play(Mode.OFF, agents, load[0], slots)
    ahead = play(Mode.SPECULATE, agents, load[0], slots)
    for here, there in zip(ahead.seen, plain.seen, strict=True):
        assert here.answered_at is not None
        assert there.answered_at is not None
        assert here.answered_at <= there.answered_at + ROUNDING_S


def test_the_loads_do_queue_and_speculate() -> None:
    """The two properties above mean something only if calls in fact queue and jobs in fact give way."""
    seeds = range(50)
    worlds = [play(Mode.SPECULATE, arrivals(seed, 12, matching=True), seed, 2) for seed in seeds]
    seen = [each for world in worlds for each in world.seen]
    assert sum(each.started_at is not None and each.started_at > each.asked_at for each in seen) >= 50
    outcomes = [end.outcome for world in worlds for end in world.settled.values()]
    for outcome in Outcome:
        assert outcomes.count(outcome) >= 20


def _waits_for_jobs(calls: Calls, call: Call, now: float) -> Iterator[Command]:
    if call.lane.free() and not call.lane.of(calls._state.ledger.running(shadow=False)):
        yield from calls._run(call, now)
    else:
        call.lane.queue.append(call)


def _gives_way_to_nobody(*_: object) -> list[Job]:
    return []


@pytest.mark.parametrize(
    ("owner", "method", "broken"),
    [(Calls, "_start", _waits_for_jobs), (Lane, "too_many", _gives_way_to_nobody)],
)
def test_a_scheduler_that_interferes_is_found_out(
    monkeypatch: pytest.MonkeyPatch, owner: type, method: str, broken: object
) -> None:
    monkeypatch.setattr(owner, method, broken)

    @settings(CI, phases=(Phase.generate,))
    @given(load=loads, slots=slots_of_server)
    def hunt(load: tuple[int, int], slots: int) -> None:
        check_no_interference(load, slots)

    with pytest.raises(AssertionError):
        hunt()
