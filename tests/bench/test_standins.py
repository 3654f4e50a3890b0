import asyncio

import aiohttp
import orjson
import pytest

from paste_proxy.bench.agent import Agent, Played, read_stream
from paste_proxy.bench.pace import Pace
from paste_proxy.bench.script import Script, build_script
from paste_proxy.bench.standins import RecordedLlm, RecordedTools
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status, ToolResult
from paste_proxy.testing import ScriptedAnswer, ScriptedLlm, ScriptedTools
from tests.bench.sessions import airline


class Straight:
    """A road past any sidecar; `spoil` changes one answer."""

    def __init__(self, tools: RecordedTools, spoil: str = "") -> None:
        self._tools, self._spoil = tools, spoil

    async def call(self, invocation: Invocation, call_id: str) -> ToolResult:
        result = await self._tools.run(invocation)
        return ToolResult(body=b"spoilt") if call_id == self._spoil else result


async def play(script: Script, spoil: str = "") -> tuple[Played, RecordedTools]:
    pace = Pace(1000.0)
    tools = RecordedTools("w", [script], pace)
    async with ScriptedLlm(RecordedLlm([script], pace).answer) as llm, aiohttp.ClientSession() as http:
        agent = Agent(script, http=http, llm=f"{llm.url}/v1", road=Straight(tools, spoil), pace=pace)
        return await agent.play(), tools


async def test_an_agent_plays_its_script_to_the_end_and_asks_every_call() -> None:
    script = build_script("s1", airline())
    played, tools = await play(script)
    assert [ask.invocation for ask in played.asks] == [call.invocation for call in script.calls]
    assert [span.what for span in played.spans] == [
        "llm",
        "tool",
        "llm",
        "tool",
        "llm",
        "person",
        "llm",
        "tool",
        "llm",
        "tool",
        "llm",
    ]
    assert len(tools.runs) == 4
    assert not any(run.cancelled for run in tools.runs)


async def test_two_plays_see_the_same_and_one_changed_answer_shows() -> None:
    script = build_script("s1", airline())
    first, _ = await play(script)
    second, _ = await play(script)
    spoilt, _ = await play(script, spoil="c4")
    assert first.view == second.view != spoilt.view


@pytest.mark.parametrize("stream_s", [0.0, 0.05])
async def test_a_scripted_answer_arrives_whole(stream_s: float) -> None:
    calls = (("a", "get_x", '{"id": "é1"}'), ("b", "get_y", "{}"))
    answer = ScriptedAnswer(text="Let me look 😀 " * 9, calls=calls, stream_s=stream_s)
    async with (
        ScriptedLlm(lambda _: answer) as llm,
        aiohttp.ClientSession() as http,
        http.post(f"{llm.url}/v1/chat/completions", data=b"{}") as response,
    ):
        text, seen = read_stream(await response.read())
    assert text == answer.text
    assert [(call.id, call.name, call.arguments) for call in seen] == list(calls)


def test_a_slow_answer_comes_token_by_token() -> None:
    slow = ScriptedAnswer(text="x" * 400, stream_s=2.0).chunks()
    assert len(slow) == 1 + 100 + 2
    assert len(ScriptedAnswer(text="x" * 400).chunks()) == 4


async def test_scripted_tools_answer_over_http_and_notice_a_client_that_leaves() -> None:
    left = asyncio.Event()
    started = asyncio.Event()

    async def run(invocation: Invocation) -> ToolResult:
        if invocation.tool == "slow":
            started.set()
            try:
                await asyncio.Event().wait()
            finally:
                left.set()
        return ToolResult(body=orjson.dumps(invocation.arguments), status=Status.ERROR)

    async with ScriptedTools(run) as tools, aiohttp.ClientSession() as http:
        async with http.post(f"{tools.url}/echo", data=b'{"a":1}') as answer:
            assert (answer.status, await answer.read()) == (500, b'{"a":1}')
        gone = asyncio.create_task(http.post(f"{tools.url}/slow", data=b"{}").__aenter__())
        await asyncio.wait_for(started.wait(), 5)
        gone.cancel()
        await asyncio.wait_for(left.wait(), 5)


async def test_a_cancelled_run_costs_what_it_ran() -> None:
    script = build_script("s1", airline())
    tools = RecordedTools("w", [script], Pace(1.0))
    running = asyncio.create_task(tools.run(script.calls[0].invocation))
    await asyncio.sleep(0)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    (run,) = tools.runs
    assert run.cancelled
    assert run.ended - run.began < script.calls[0].latency_s
