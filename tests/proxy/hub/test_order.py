"""What clients have been given is known before what they then ask for."""

import asyncio
from collections.abc import AsyncIterator

import orjson
import pytest

from paste_proxy.clock import SystemClock
from paste_proxy.config import Config
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult
from paste_proxy.proxy.composition import Sidecar
from paste_proxy.proxy.ports import AgentCall, RunIt

BODY = orjson.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": "read a"}]})
CALL = {"index": 0, "id": "call_1", "function": {"name": "db/read", "arguments": '{"key":"a"}'}}
SEALING = b"data: " + orjson.dumps({"choices": [{"index": 0, "delta": {"tool_calls": [CALL]}}]}) + b"\n\n"


@pytest.fixture
async def sidecar() -> AsyncIterator[Sidecar]:
    sidecar = Sidecar(Config(), SystemClock())
    living = sidecar.living()
    await anext(living)
    yield sidecar
    with pytest.raises(StopAsyncIteration):
        await anext(living)


async def test_an_agent_that_calls_at_once_is_tied_to_the_turn_it_was_just_given(sidecar: Sidecar) -> None:
    tee = sidecar.watch.opened(
        wire="openai_chat", target="/v1/chat/completions", headers={"x-paste-session": "task"}, body=[BODY]
    )
    tee.answer(200, {"content-type": "text/event-stream"})
    tee.chunk(SEALING)
    # The stream goes on; the agent does not wait for its end, and names no session.
    call = AgentCall(invocation=Invocation("db/read", {"key": "a"}), scope="connection", call_id="call_1")
    decision = await asyncio.wait_for(sidecar.hub.ask(call), 10)
    assert isinstance(decision, RunIt)
    sidecar.hub.ended(decision.ticket, ToolResult(body=b"1"))
    (session,) = sidecar.sessions
    assert (session.id, session.tool_calls) == ("task", 1)
    assert [asked.claimed for asked in session.calls] == [True]
    tee.closed(clean=False)
