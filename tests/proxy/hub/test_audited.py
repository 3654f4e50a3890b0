"""What the hub logs of running ahead, and what that adds up to."""

from paste_proxy.clock import FakeClock
from paste_proxy.events.candidate import Candidate
from paste_proxy.events.cored import as_asked
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status, ToolResult
from paste_proxy.events.types import Event, Outcome, Refusals, Speculation, UserMessage
from paste_proxy.proxy.hub.refusal_desk import RefusalDesk
from paste_proxy.proxy.hub.tally import Tally
from paste_proxy.proxy.ports import RunIt
from paste_proxy.proxy.stats import stats
from paste_proxy.speculation.audit import Audit
from paste_proxy.speculation.opportunities import Opportunities
from paste_proxy.speculation.types import Asked, CallEnded, Mode, Reason, Refused

from .test_hub import OTHER, READ, WRITE, user, world

UNKNOWN = Invocation("look", {})


def foreseen(event: Event) -> list[Invocation]:
    return [READ, OTHER, WRITE] if isinstance(event, UserMessage) else []


async def test_the_log_adds_up_to_what_was_counted() -> None:
    async with world(foreseen) as w:
        await w.hear(user("read a"))
        w.clock.advance(2.0)
        w.backend.answer.set_result(ToolResult(body=b'"contents"'))
        await w.settle()
        await w.ask(READ)
        writing = await w.ask(WRITE)
        assert isinstance(writing, RunIt)
        w.hub.ended(writing.ticket, ToolResult(body=b"done"))
        await w.hear(user("read a"), user("again"))
        await w.settle()
    audit = Audit()
    for event in w.log.events:
        audit.add(event)
    ran = audit.ran.all
    assert (ran.jobs, ran.hits, ran.saved_s, ran.wasted_s) == (w.tally.launched, 1, w.tally.saved_s, w.tally.wasted_s)
    assert {outcome: sums.jobs for outcome, sums in audit.ran.by["outcome"].items()} == w.tally.outcomes
    assert audit.refused == w.tally.refused == {"policy": 2}
    assert audit.side_effecting == w.tally.side_effecting == 2
    assert sum(sums.jobs for sums in audit.ran.by["why"].values()) == ran.jobs - 1
    jobs = [event for event in w.log.events if isinstance(event, Speculation)]
    assert {(job.source, job.rule, job.bytes) for job in jobs} == {("prophet", "test: rule 1", 10)}
    assert all(job.utility and job.benefit_s for job in jobs)
    hit = next(job for job in jobs if job.outcome is Outcome.REUSED)
    assert (hit.why, hit.saved_s) == (None, 2.0)


async def test_a_session_that_goes_on_when_the_hub_closes_is_accounted_for() -> None:
    async with world(foreseen) as w:
        await w.hear(user("read a"))
        assert w.tally.launched == 2
    assert len([event for event in w.log.events if isinstance(event, Speculation)]) == 2


def desk(clock: FakeClock, tally: Tally) -> RefusalDesk:
    opportunities = Opportunities(as_asked, least=0.2, ttl_s=60.0)
    tally.opportunities = opportunities.biggest
    return RefusalDesk(tally, clock, opportunities)


def refused(session: str = "s", tool: str = "look", writes: bool = True) -> Refused:
    invocation = Invocation(tool, {})
    return Refused(
        session=session, invocation=invocation, source="p", reason=Reason.POLICY, confidence=0.9, writes=writes
    )


def test_refusals_alike_are_one_line_a_minute() -> None:
    clock, tally = FakeClock(100.0), Tally()
    refusals = desk(clock, tally)
    for _ in range(50):
        refusals.refused(refused())
        refusals.refused(refused("t"))
    assert refusals.due() == []
    clock.advance(60)
    assert [(event.session, event.count) for event in refusals.due() if isinstance(event, Refusals)] == [
        ("s", 50),
        ("t", 50),
    ]
    assert refusals.due(at_once=True) == []
    for number in range(600):
        refusals.refused(refused(tool=f"tool{number}"))
    assert len(refusals.due()) == 600, "no more are kept than so many"
    assert tally.refused == {"policy": 700}


def test_what_was_missed_is_told_with_what_would_allow_it() -> None:
    clock, tally = FakeClock(100.0), Tally()
    refusals = desk(clock, tally)
    refusals.not_executable("s", Candidate(invocation=UNKNOWN, confidence=0.9, source="p"))
    clock.advance(3)
    refusals.heard(Asked(call=1, session="s", invocation=UNKNOWN))
    clock.advance(2)
    refusals.heard(CallEnded(call=1, status=Status.OK))
    shown = stats(tally, Mode.SPECULATE, sessions=1, exchanges=0)
    assert shown["opportunities"] == [
        {
            "tool": "look",
            "calls": 1,
            "would_save_s": 2.0,
            "reason": "not_executable",
            "allow": "offer it through the sidecar: [mcp.NAME] or [tools.NAME]",
        }
    ]
