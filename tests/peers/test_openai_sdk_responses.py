"""The official OpenAI client through a live sidecar: it gets what it would have got, and the hub sees its task."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from openai import AsyncOpenAI

from paste_proxy.clock import SystemClock
from paste_proxy.config import Config, LlmRoute, Recording
from paste_proxy.proxy.app import build_app
from paste_proxy.proxy.composition import Sidecar
from paste_proxy.proxy.server import app_runner
from tests.proxy.llm_world import STREAM_HEAD, Script, Seen, Upstream, answer, chunked, upstream
from tests.wire.response_events import ENDED, added, called, created, done, ended, grown, grows, message, stream
from tests.wire.tagged_texts import block, whole

pytestmark = pytest.mark.peer

TOOLS: Any = [
    {"type": "function", "name": name, "parameters": {"type": "object", "properties": {}}, "strict": False}
    for name in ("look", "note")
]
FULL = dict.fromkeys(("instructions", "incomplete_details", "error")) | {
    "object": "response",
    "created_at": 1,
    "model": "m",
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
}
USAGE = {
    "input_tokens": 100,
    "output_tokens": 7,
    "total_tokens": 107,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens_details": {"reasoning_tokens": 0},
}


def numbered(*events: dict[str, Any]) -> list[dict[str, Any]]:
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


def spoken(text: str, index: int = 0) -> list[dict[str, Any]]:
    item = message(text, status="completed")
    delta = {**grows(text, "msg_1", index, of="output_text"), "content_index": 0, "logprobs": []}
    over = {**grown("msg_1", index, of="output_text", text=text), "content_index": 0, "logprobs": []}
    begun = {"type": "response.content_part.added", "item_id": "msg_1", "output_index": index, "content_index": 0}
    part = {"type": "output_text", "text": "", "annotations": []}
    opened = added({**item, "content": [], "status": "in_progress"}, index)
    return [opened, {**begun, "part": part}, delta, over, done(item, index)]


ASKING = [
    *spoken("I look."),
    *called("look", "a", '{"q": "é"}', 1),
    *called("note", "b", '{"text": "x"}', 2),
]
ASKED = [event["item"] for event in ASKING if event["type"] == "response.output_item.done"]
ANSWERED = message("It is 42.", status="completed")


def response(number: int, output: list[dict[str, Any]]) -> dict[str, Any]:
    return {**FULL, **ENDED, "id": f"resp_{number}", "output": output, "usage": USAGE}


def turn(number: int, events: list[dict[str, Any]], output: list[dict[str, Any]]) -> bytes:
    begun = created(**FULL, id=f"resp_{number}")
    return stream(*numbered(begun, *events, ended(**response(number, output))))


def in_pieces(body: bytes, size: int = 61) -> bytes:
    return STREAM_HEAD + chunked(*(body[at : at + size] for at in range(0, len(body), size)))


def as_json(body: bytes) -> bytes:
    return answer(body, b"Content-Type: application/json")


def taking_turns(*answers: bytes) -> Script:
    """Answers the first request with the first, and begins anew after the last."""
    count = iter(range(10**6))

    async def reply(_: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(answers[next(count) % len(answers)])
        await writer.drain()

    return reply


STREAMED = taking_turns(*map(in_pieces, (turn(1, ASKING, ASKED), turn(2, spoken("It is 42."), [ANSWERED]))))


@dataclass
class Told:
    """What an agent saw of its endpoint, as plain values, and what the sidecar recorded."""

    seen: list[Any] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)

    def of(self, kind: str, *names: str) -> list[tuple[Any, ...]]:
        return [tuple(event.get(name) for name in names) for event in self.events if event["type"] == kind]


@asynccontextmanager
async def sidecar(there: Upstream, records: Path, wire: Any = "auto") -> AsyncIterator[str]:
    config = Config(
        llm=(LlmRoute(path="/v1", upstream=there.url + "/v1", wire=wire),), recording=Recording(directory=records)
    )
    runner = app_runner(build_app(config, Sidecar(config, SystemClock()).parts()))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


Agent = Callable[[AsyncOpenAI], Awaitable[list[Any]]]


async def both_ways(agent: Agent, script: Script, records: Path, wire: str = "auto") -> Told:
    """The agent's task without the sidecar and through it: the same requests and the same answers."""
    told = Told()
    async with upstream(script) as there:
        async with AsyncOpenAI(base_url=there.url + "/v1", api_key="k", max_retries=0) as client:
            direct = await agent(client)
        async with (
            sidecar(there, records, wire) as url,
            AsyncOpenAI(base_url=url, api_key="k", max_retries=0) as client,
        ):
            told.seen = await agent(client)
        bodies = [seen.body for seen in there.seen]
    assert told.seen == direct
    assert bodies[: len(bodies) // 2] == bodies[len(bodies) // 2 :]
    told.events = recorded(records)
    return told


def recorded(records: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for path in sorted(records.iterdir()) for line in path.read_bytes().splitlines()]


def results(calls: Sequence[Any]) -> list[dict[str, Any]]:
    return [{"type": "function_call_output", "call_id": c.call_id, "output": f"result of {c.name}"} for c in calls]


async def streaming(client: AsyncOpenAI) -> list[Any]:
    """Runs the calls of its first turn by itself and sends the whole history back."""
    history: Any = [{"role": "user", "content": "what is it?"}]
    seen: list[Any] = []
    for _ in range(2):
        got = [e async for e in await client.responses.create(model="m", stream=True, input=history, tools=TOOLS)]
        seen += [event.model_dump() for event in got]
        output = got[-1].response.output  # type: ignore[union-attr]
        history += [item.model_dump(exclude_none=True) for item in output]
        history += results([item for item in output if item.type == "function_call"])
    return seen


async def going_on(client: AsyncOpenAI) -> list[Any]:
    """The same, not streamed, and with the endpoint keeping the history."""
    first = await client.responses.create(model="m", input="what is it?", tools=TOOLS)
    new: Any = results([item for item in first.output if item.type == "function_call"])
    second = await client.responses.create(model="m", input=new, tools=TOOLS, previous_response_id=first.id)
    return [first.model_dump(), second.model_dump()]


def saw_the_task(told: Told) -> None:
    """One session, two turns, two calls sealed in the first, each with the result that the agent sent back."""
    assert len({event["session"] for event in told.events}) == 1
    assert told.of("user", "text") == [("what is it?",)]
    assert told.of("turn_started", "turn", "model") == [(1, "m"), (2, "m")]
    assert told.of("call_sealed", "turn", "order", "call_id", "tool", "args") == [
        (1, 0, "a", "look", {"q": "é"}),
        (1, 1, "b", "note", {"text": "x"}),
    ]
    assert told.of("llm_turn", "turn", "text", "complete", "input_tokens") == [
        (1, "I look.", True, 100),
        (2, "It is 42.", True, 100),
    ]
    assert told.of("tool_call", "call_id", "tool", "turn") == [("a", "look", 1), ("b", "note", 1)]
    assert told.of("tool_output", "call_id", "output") == [("a", "result of look"), ("b", "result of note")]


async def test_a_streaming_agent_sees_the_same_events_and_the_hub_its_whole_task(tmp_path: Path) -> None:
    told = await both_ways(streaming, STREAMED, tmp_path)
    assert len(told.seen) > 30
    saw_the_task(told)


async def test_an_agent_whose_endpoint_keeps_the_history_is_one_session_too(tmp_path: Path) -> None:
    bodies = (json.dumps(response(1, ASKED)).encode(), json.dumps(response(2, [ANSWERED])).encode())
    saw_the_task(await both_ways(going_on, taking_turns(*map(as_json, bodies)), tmp_path))


async def leaving(client: AsyncOpenAI) -> list[Any]:
    """Closes the stream as soon as it has read that the answer is complete."""
    opened = await client.responses.create(model="m", stream=True, input="what is it?", tools=TOOLS)
    async for event in opened:
        if event.type == "response.completed":
            break
    await opened.close()
    return []


async def test_a_client_that_leaves_right_after_the_end_has_had_a_complete_turn(tmp_path: Path) -> None:
    async def never_ending(_: Seen, writer: asyncio.StreamWriter) -> None:
        body = turn(1, ASKING, ASKED)
        writer.write(STREAM_HEAD + b"%x\r\n%b\r\n" % (len(body), body))
        await writer.drain()

    told = await both_ways(leaving, never_ending, tmp_path)
    assert told.of("llm_turn", "turn", "text", "complete") == [(1, "I look.", True)]
    assert len(told.of("call_sealed")) == 2


THOUGHT = "<think>I should look.</think>\n"


async def researching(client: AsyncOpenAI) -> list[Any]:
    """Reads its calls from the text, as Qwen DeepResearch does."""
    history: Any = [{"role": "system", "content": "Research."}, {"role": "user", "content": "what is it?"}]
    seen: list[Any] = []
    for _ in range(3):
        got = await client.chat.completions.create(model="m", messages=history, stop=["\n<tool_response>"])
        seen.append(got.model_dump())
        text = (got.choices[0].message.content or "").partition("<tool_response>")[0].strip()
        history.append({"role": "assistant", "content": text})
        if "<tool_call>" in text:
            history.append({"role": "user", "content": "<tool_response>\nresult\n</tool_response>"})
    return seen


async def test_an_agent_whose_calls_are_text_is_seen_with_its_calls_and_their_results(tmp_path: Path) -> None:
    same = block("look", {"q": "é"})
    texts = (f"{THOUGHT}{same}\n<tool_response>made up", f"{THOUGHT}{same}", f"{THOUGHT}<answer>42</answer>")
    bodies = [whole(text, object="chat.completion", created=1, model="m") for text in texts]
    told = await both_ways(researching, taking_turns(*map(as_json, bodies)), tmp_path, "tagged_text")
    assert len({event["session"] for event in told.events}) == 1
    assert told.of("user", "text") == [("what is it?",)]
    assert told.of("call_sealed", "turn", "tool", "args") == [(1, "look", {"q": "é"}), (2, "look", {"q": "é"})]
    assert told.of("tool_call", "tool", "turn") == [("look", 1), ("look", 2)]
    assert told.of("tool_output", "tool", "output") == [("look", "result")] * 2
    assert [complete for (complete,) in told.of("llm_turn", "complete")] == [True] * 3
