"""A call in a changed form, run through the hub and accounted for."""

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status, ToolResult
from paste_proxy.events.types import Event, LlmTurn, Outcome, Speculation, ToolOutput, Why
from paste_proxy.proxy.ports import RunIt, ServeIt
from paste_proxy.proxy.stats import stats
from paste_proxy.speculation.audit import Audit
from paste_proxy.speculation.types import Mode

from .test_hub import POLICY, READ, WRITE, user
from .test_preparations import Prepping, world

RULES = POLICY.replace(
    'tool = "write"\neffect = "write"', 'tool = "write"\neffect = "write"\nrehearse = { set = { dry_run = true } }'
)
DRY = Invocation("write", {**WRITE.arguments, "dry_run": True})


def jobs(w: Prepping) -> list[Speculation]:
    return [event for event in w.log.events if isinstance(event, Speculation)]


async def rehearsed(w: Prepping, answer: ToolResult) -> None:
    """The call is foreseen and rehearsed for two seconds."""
    await w.hear(user("write a"))
    await w.settle()
    assert w.backend.started == [DRY]
    w.clock.advance(2.0)
    w.backend.answer.set_result(answer)
    await w.settle()


async def test_the_tool_is_asked_in_the_changed_form_and_the_agent_is_answered_by_the_tool() -> None:
    async with world(foreseen=[WRITE], rules=RULES) as w:
        await rehearsed(w, ToolResult(body=b"would write"))
        assert isinstance(await w.ask(DRY), RunIt), "not even this call has it"
        assert isinstance(await w.ask(WRITE), RunIt)
        (job,) = jobs(w)
        assert (job.invocation, job.rehearsal, job.outcome, job.why) == (DRY, True, Outcome.DISCARDED, Why.REHEARSED)
        assert (job.ran_s, job.saved_s, job.bytes, job.rule) == (2.0, 0.0, 11, "test: rule 2")
        assert w.counts == {"prepared": {"rehearsal": 1}, "found": {"rehearsal": 1}}


async def test_it_is_told_apart_in_every_account() -> None:
    async with world(foreseen=[WRITE], rules=RULES) as w:
        await rehearsed(w, ToolResult(body=b"would write"))
        await w.ask(WRITE)
        shown = stats(w.tally, Mode.SPECULATE, sessions=1, exchanges=0)
        assert (shown["launched"], shown["outcomes"], shown["wasted_s"], shown["hits"]) == (0, {}, 0.0, 0)
        assert shown["preparations"]["rehearsal"] == {"prepared": 1, "failed": 0, "found": 1}  # type: ignore[index, call-overload]
        assert not w.tally.patterns
        audit = Audit()
        for event in w.log.events:
            audit.add(event)
        assert (audit.ran.all.jobs, audit.rehearsed.all.jobs, audit.rehearsed.all.hits) == (0, 1, 1)
        assert audit.as_json()["rehearsed"]["by_why"]["rehearsed"]["wasted_s"] == 0.0  # type: ignore[index, call-overload]


async def test_one_whose_call_never_comes_was_wasted() -> None:
    async with world(foreseen=[WRITE], rules=RULES) as w:
        await rehearsed(w, ToolResult(body=b"would write"))
    (job,) = jobs(w)
    assert (job.why, w.tally.wasted_s) == (Why.OVER, 2.0)
    assert w.counts == {"prepared": {"rehearsal": 1}}


async def test_one_that_fails_is_counted_so() -> None:
    async with world(foreseen=[WRITE], rules=RULES) as w:
        await rehearsed(w, ToolResult(body=b"no", status=Status.ERROR))
        assert w.counts == {"failed": {"rehearsal": 1}}


async def test_nothing_is_foreseen_from_what_it_says() -> None:
    async with world(foreseen=[WRITE], rules=RULES) as w:
        heard: list[Event] = []

        def suppose(past: object, latest: Event) -> object:
            heard.append(latest)
            raise AssertionError

        w.prophet.suppose = suppose  # type: ignore[method-assign, assignment]
        await rehearsed(w, ToolResult(body=b"would write"))
        assert not heard


async def test_the_session_sees_nothing_of_it() -> None:
    async with world(foreseen=[WRITE, READ], rules=RULES) as w:
        await w.hear(user("write a"))
        await w.settle()
        w.backend.answer.set_result(ToolResult(body=b"said"))
        await w.settle()
        served = await w.ask(READ)
        assert isinstance(served, ServeIt)
        assert not [event for event in w.prophet.heard if isinstance(event, ToolOutput) and event.tool == "write"]
        assert not [event for event in w.prophet.heard if isinstance(event, LlmTurn)]
