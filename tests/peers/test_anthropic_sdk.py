"""The official Anthropic client streams tool calls through the sidecar."""

import json
from pathlib import Path
from typing import Any

import pytest
from anthropic import AsyncAnthropic
from anthropic.types import MessageParam, ToolParam

from paste_proxy.events.result import Status
from paste_proxy.events.types import CallSealed, LlmTurn, ToolOutput
from tests.peers.observed import Observed, end_to_end, observed, streaming
from tests.proxy.llm_world import Seen, Upstream, upstream
from tests.wire.anthropic_streams import PING, STOP, delta, ended, opened, start, stopped, text, tool
from tests.wire.anthropic_streams import events as written

pytestmark = pytest.mark.peer

TOOLS: list[ToolParam] = [
    {"name": name, "description": name, "input_schema": {"type": "object"}} for name in ("look", "clock")
]
BETA = "interleaved-thinking-2025-05-14,fine-grained-tool-streaming-2025-05-14"
THOUGHT = [
    opened(0, "thinking", thinking="", signature=""),
    delta(0, "thinking_delta", thinking="Where  \u00e9 \\/ is it?"),
    delta(0, "signature_delta", signature="c2lnbmF0dXJl"),
    stopped(0),
]
ASKING = written(
    start(input_tokens=3, cache_read_input_tokens=40, output_tokens=1),
    PING,
    *THOUGHT,
    *text(1, "I look \u00e9", "\U0001f600 there."),
    *tool(2, "toolu_1", "look", "", '{"q": "sm', '\u00f8r"}'),
    PING,
    *tool(3, "toolu_2", "clock", ""),
    ended(output_tokens=12),
    STOP,
)
DONE = written(start(input_tokens=50, output_tokens=1), *text(0, "Done."), ended("end_turn", output_tokens=2), STOP)


def script(request: Seen) -> bytes:
    return DONE if b"tool_result" in request.body else ASKING


async def agent(base_url: str) -> list[Any]:
    """A turn with two calls, their results, and the turn after it: everything that the client yields."""
    yielded: list[Any] = []
    said: list[MessageParam] = [{"role": "user", "content": "find it"}]
    async with AsyncAnthropic(base_url=base_url, api_key="k", max_retries=0) as client:
        while True:
            async with client.messages.stream(
                model="claude-x",
                max_tokens=100,
                system=[{"type": "text", "text": "be brief", "cache_control": {"type": "ephemeral"}}],
                messages=said,
                tools=TOOLS,
                extra_headers={"anthropic-beta": BETA},
                metadata={"user_id": json.dumps({"device_id": "d", "session_id": "task-7"})},
            ) as stream:
                yielded += [event.to_dict() async for event in stream]
                message = await stream.get_final_message()
            said.append({"role": "assistant", "content": message.content})
            uses = [block for block in message.content if block.type == "tool_use"]
            if not uses:
                return yielded
            results: list[Any] = [
                {
                    "type": "tool_result",
                    "tool_use_id": use.id,
                    "content": f"of {use.name}",
                    "is_error": use.name == "clock",
                }
                for use in uses
            ]
            said.append({"role": "user", "content": results})


async def both(folder: Path) -> tuple[Upstream, Observed]:
    """The agent without and with the sidecar, both yielding the same."""
    async with upstream(streaming(script)) as there:
        async with observed(folder, there.url) as side:
            direct = await agent(there.url)
            assert await agent(side.url) == direct
        assert len(direct) > 20
        return there, side


async def test_the_client_gets_the_same_and_the_upstream_too(tmp_path: Path) -> None:
    there, side = await both(tmp_path)
    direct, relayed = there.seen[:2], there.seen[2:]
    assert [seen.body for seen in direct] == [seen.body for seen in relayed]
    assert [seen.target for seen in direct] == [seen.target for seen in relayed] == [b"/v1/messages"] * 2
    assert [end_to_end(seen) for seen in direct] == [end_to_end(seen) for seen in relayed]
    assert all(f"anthropic-beta: {BETA}".encode() in seen.header_lines for seen in relayed)
    assert b'"signature":"c2lnbmF0dXJl"' in relayed[1].body
    assert not side.tally.faults


async def test_the_hub_sees_session_calls_turns_and_results(tmp_path: Path) -> None:
    _, side = await both(tmp_path)
    events = side.events()
    assert {event.session for event in events} == {"task-7"}
    calls = [event for event in events if isinstance(event, CallSealed)]
    assert [(c.turn, c.order, c.call_id, c.invocation.tool, c.invocation.arguments) for c in calls] == [
        (1, 0, "toolu_1", "look", {"q": "smør"}),
        (1, 1, "toolu_2", "clock", {}),
    ]
    turns = [event for event in events if isinstance(event, LlmTurn)]
    assert [(t.text, t.complete, t.input_tokens, t.output_tokens) for t in turns] == [
        ("I look é😀 there.", True, 43, 12),
        ("Done.", True, 50, 2),
    ]
    outputs = [event for event in events if isinstance(event, ToolOutput)]
    assert [(o.call_id, o.tool, o.output, o.status) for o in outputs] == [
        ("toolu_1", "look", "of look", Status.OK),
        ("toolu_2", "clock", "of clock", Status.ERROR),
    ]
    assert (side.tally.turns, side.tally.utility_turns, side.tally.incomplete_turns) == (2, 0, 0)


async def test_an_answer_that_is_not_streamed_is_seen_too(tmp_path: Path) -> None:
    use = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"q": "a"}}
    whole: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [use]}
    whole |= {"stop_reason": "tool_use", "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 2}}
    async with (
        upstream(streaming(lambda _: json.dumps(whole).encode(), b"application/json")) as there,
        observed(tmp_path, there.url) as side,
        AsyncAnthropic(base_url=side.url, api_key="k", max_retries=0) as client,
    ):
        answer = await client.messages.create(
            model="claude-x", max_tokens=9, messages=[{"role": "user", "content": "find it"}], tools=TOOLS
        )
    assert [block.to_dict() for block in answer.content] == [use]
    calls = [event for event in side.events() if isinstance(event, CallSealed)]
    assert [(c.call_id, c.invocation.arguments) for c in calls] == [("toolu_1", {"q": "a"})]
