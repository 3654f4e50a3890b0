"""What the log adds up to is what was counted while it was written."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paste_proxy.events.codec import decode, encode
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.types import Outcome, Refusals, Speculation, Why
from paste_proxy.speculation.audit import Audit
from paste_proxy.speculation.budgets.budgets import BudgetLimits
from paste_proxy.speculation.types import Mode, SessionEnded, Settled

from .test_noninterference import ALLOTTED, arrivals, play
from .world import SESSIONS, World


def logged(settled: Settled) -> Speculation:
    event = Speculation(
        session=settled.session,
        ts=1.0,
        invocation=settled.invocation,
        source=settled.source,
        confidence=settled.confidence,
        outcome=settled.outcome,
        ran_s=settled.ran_s,
        saved_s=settled.saved_s,
        shadow=settled.shadow,
        why=settled.why,
        rule=settled.rule,
        cost=settled.cost,
        again=settled.again,
        staged=settled.staged,
        commit_s=settled.commit_s,
        bytes=settled.bytes,
    )
    read = decode(encode(event, 0))
    assert read == event
    return event


def ended(world: World) -> list[Settled]:
    """Every job's end, those included that nobody asks for any more."""
    settled = list(world.settled.values())
    for session in SESSIONS:
        commands = world.scheduler.step(SessionEnded(session=session), world.now)
        settled += [command for command in commands if isinstance(command, Settled)]
    return settled


@settings(max_examples=150, derandomize=True, database=None, deadline=None)
@given(seed=st.integers(0, 2**32), length=st.integers(3, 16), shadow=st.booleans())
def test_the_budgets_have_charged_exactly_what_the_log_says(seed: int, length: int, shadow: bool) -> None:
    mode = Mode.OBSERVE if shadow else Mode.SPECULATE
    world = play(mode, arrivals(seed, length, matching=True), seed, 2, BudgetLimits(calls_per_minute=9), ALLOTTED)
    audit = Audit()
    for settled in ended(world):
        assert (settled.why is None) == (settled.outcome in (Outcome.REUSED, Outcome.PROMOTED))
        assert settled.again or settled.rule.startswith("world: rule ")
        audit.add(logged(settled))
    state = world.scheduler._state
    jobs, used = (audit.would_have if shadow else audit.ran).all, state.budgets_of(shadow=shadow).book.record.used
    assert (jobs.jobs, jobs.cost, jobs.bytes) == (used.calls, used.money, used.bytes)
    assert audit.ran.all.jobs == state.budgets.book.record.used.calls


def job(**changed: object) -> Speculation:
    made: dict[str, object] = {
        "session": "s",
        "ts": 10.0,
        "invocation": Invocation("web/fetch", {"url": "a"}),
        "source": "p1",
        "confidence": 0.5,
        "outcome": Outcome.REUSED,
        "ran_s": 2.0,
        "saved_s": 1.5,
        "rule": "x: rule 1",
        "cost": 0.5,
    }
    return Speculation(**{**made, **changed})  # type: ignore[arg-type]


def refused(**changed: object) -> Refusals:
    made: dict[str, object] = {
        "session": "s",
        "ts": 10.0,
        "tool": "web/post",
        "reason": "policy",
        "rule": "",
        "count": 3,
    }
    return Refusals(**{**made, "writes": True, **changed})  # type: ignore[arg-type]


def test_jobs_add_up_by_tool_source_rule_and_end() -> None:
    audit = Audit()
    for each in (
        job(),
        job(source="p2", outcome=Outcome.DISCARDED, saved_s=0.0, why=Why.STALE),
        job(invocation=Invocation("read", {}), rule=None, cost=None, staged=True, commit_s=0.25),
        job(again=True),
        job(shadow=True),
    ):
        assert audit.add(each)
    told = audit.as_json()
    ran = audit.ran.as_json()
    assert (ran["jobs"], ran["hits"], ran["wasted_s"], ran["cost"]) == (3, 2, 2.0, 1.0)
    assert {by: Counter({key: sums.jobs for key, sums in rows.items()}) for by, rows in audit.ran.by.items()} == {
        "tool": {"web/fetch": 2, "read": 1},
        "source": {"p1": 2, "p2": 1},
        "rule": {"x: rule 1": 2},
        "outcome": {"reused": 2, "discarded": 1},
        "why": {"stale": 1},
    }
    assert (audit.would_have.all.jobs, audit.again) == (1, 1)
    assert told["staged"] == {
        "jobs": 1,
        "asked": 1,
        "ended_before_asked": 1,
        "cpu_share": None,
        "starved": False,
        "committed": 1,
        "commit_ms_p50": 250.0,
    }


def test_side_effecting_candidates_are_told_apart() -> None:
    audit = Audit()
    for each in (refused(), refused(writes=False), refused(reason="approval", count=1), refused(reason="calls")):
        audit.add(each)
    assert audit.refused == {"policy": 6, "approval": 1, "calls": 3}
    assert audit.side_effecting == 4


@pytest.mark.parametrize(
    ("audit", "jobs", "refusals"),
    [
        (Audit(since=11.0), 0, 0),
        (Audit(session="t"), 0, 0),
        (Audit(session="s", since=10.0), 1, 3),
        (Audit(tool="web/*"), 1, 3),
        (Audit(tool="*fetch"), 1, 0),
    ],
)
def test_other_times_sessions_and_tools_are_passed_over(audit: Audit, jobs: int, refusals: int) -> None:
    for each in (job(), refused()):
        audit.add(each)
    assert (audit.ran.all.jobs, audit.refused.total()) == (jobs, refusals)
