"""A session that wants nothing run ahead: it is observed, and every call of it is run."""

import asyncio

import pytest

from paste_proxy.events.result import ToolResult
from paste_proxy.events.types import ToolOutput, UserMessage
from paste_proxy.proxy.http.opting_out import opts_out
from paste_proxy.proxy.hub.observed import Exchange, RequestSeen
from paste_proxy.proxy.hub.reading import reading
from paste_proxy.proxy.ports import AgentCall, RunIt, ServeIt
from paste_proxy.wire.types import LlmRequest

from .test_hub import READ, World, after_user, user, world


async def opting_out(w: World, text: str) -> None:
    request = LlmRequest(model="m", stream=True, messages=(user(text),), tools=("read",))
    w.hub.post(RequestSeen(Exchange(), reading(request), "s", ahead=False))
    await w.settle()


@pytest.mark.parametrize(
    ("headers", "out"),
    [
        ([("x-paste-speculate", "off")], True),
        ([("Accept", "*/*"), ("X-Paste-Speculate", " OFF ")], True),
        ([("x-paste-speculate", "on")], False),
        ([("x-paste-speculate", "")], False),
        ([("x-paste-session", "off")], False),
        ([], False),
    ],
)
def test_only_that_header_with_that_value_says_so(headers: list[tuple[str, str]], out: bool) -> None:
    assert opts_out(headers) is out


async def test_nothing_is_run_ahead_for_it_and_it_is_observed() -> None:
    async with world(after_user) as w:
        await opting_out(w, "read a")
        decision = await w.ask(READ)
        assert isinstance(decision, RunIt)
        w.hub.ended(decision.ticket, ToolResult(body=b'"contents"'))
        await w.settle()
        assert (w.backend.started, w.tally.launched) == ([], 0)
        assert {type(event) for event in w.log.events} >= {UserMessage, ToolOutput}
        assert w.prophet.heard == w.log.events


async def test_once_is_enough() -> None:
    async with world(after_user) as w:
        await opting_out(w, "first")
        await w.hear(user("first"), user("second"))
        assert w.backend.started == []


async def test_another_session_is_helped_as_ever() -> None:
    async with world(after_user) as w:
        await opting_out(w, "read a")
        await w.hear(user("read a"), session="other")
        assert w.backend.started == [READ]


@pytest.mark.parametrize("ready", [True, False])
async def test_what_was_run_ahead_before_is_discarded(ready: bool) -> None:
    async with world(after_user) as w:
        await w.hear(user("read a"))
        if ready:
            w.backend.answer.set_result(ToolResult(body=b'"contents"'))
            await w.settle()
        asked = AgentCall(invocation=READ, session="s", ahead=False)
        assert isinstance(await asyncio.wait_for(w.hub.ask(asked), 5), RunIt)
        assert w.tally.outcomes == {"discarded": 1}
        await w.settle()
        assert w.backend.cancelled == ([] if ready else [READ])


async def test_without_a_word_it_would_have_been_served() -> None:
    async with world(after_user) as w:
        await w.hear(user("read a"))
        w.backend.answer.set_result(ToolResult(body=b'"contents"'))
        await w.settle()
        assert isinstance(await w.ask(READ), ServeIt)
