"""Qwen DeepResearch's way of working behind the sidecar: its ports, its tags, its `TOOL_MAP`, its threads."""

import asyncio
import json
import socket
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from paste_proxy import Sidecar
from paste_proxy.agents.deep_research import PORTS, each_thread, planning_ports, through
from paste_proxy.config import Config
from tests.agents.frameworks.chat import chat
from tests.agents.frameworks.live import PATIENCE_S, sidecar
from tests.agents.frameworks.research_agent import PAGES, Message, ResearchAgent, tool_map
from tests.agents.scripted import SOON, served

POLICY = """
[[rule]]
tool = ["search", "visit"]
effect = "read"
reads = ["web"]
expected_s = 0.3
"""
PATTERNS = """
[[pattern]]
id = "the next page towards the same goal"
tool = "visit"
after = "ok visit"
confidence = 0.5
arguments.url = { from = "output", tool = "search", take = "url", frame = "[]" }
arguments.goal = { from = "call", tool = "visit", take = "/goal" }
"""
LLM_S = 0.3


def written(name: str, **arguments: Any) -> str:
    return f"<think>next</think>\n<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def turns(question: str) -> list[str]:
    goal = f"what is said of {question}"
    return [
        f"<think>so</think>\n<tool_call>\n{{name: 'search', 'arguments': {{query: ['{question}'],}}}}\n</tool_call>",
        written("visit", url=[PAGES[0]], goal=goal),
        written("visit", url=[PAGES[1]], goal=goal) + "\n<tool_response>made up",
        written("visit", url=[PAGES[2]], goal=goal) + written("search", query=["never called"]),
        '<tool_call>{"name": "PythonInterpreter", "arguments": {}}\n<code>\nprint(6 * 7)\n</code>\n</tool_call>',
        written("parse_file", files=["a.pdf", "b.txt"]),
        "<tool_call>nothing of the kind</tool_call>",
        written("no_such_tool"),
        "<think>enough</think>\n<answer>nothing</answer>",
    ]


def script(messages: list[dict[str, Any]]) -> dict[str, Any]:
    said = sum(message["role"] == "assistant" for message in messages)
    return {"content": turns(messages[1]["content"])[said]}


def free_ports(number: int) -> list[int]:
    probes = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports: list[int] = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


async def in_threads(agent: ResearchAgent, questions: Sequence[tuple[str, int]], workers: int) -> list[list[Message]]:
    with ThreadPoolExecutor(workers) as threads:
        loop = asyncio.get_running_loop()
        runs = [loop.run_in_executor(threads, agent.run, question, port) for question, port in questions]
        return await asyncio.wait_for(asyncio.gather(*runs), PATIENCE_S)


@pytest.mark.slow
async def test_several_questions_in_threads_are_told_the_same_and_wait_less(tmp_path: Path) -> None:
    own = free_ports(2)
    asked = [("the harbour", own[0]), ("the tide", own[1]), ("the harbour", own[0])]
    tools = tool_map()
    async with chat(script, takes_s=LLM_S) as llm:
        routes = planning_ports([llm.url], ports=own)
        plain = await in_threads(ResearchAgent(tool_map()), [(question, llm.port) for question, _ in asked], 4)
        async with (
            sidecar(tmp_path, routes=routes, policy=POLICY, patterns=PATTERNS) as live,
            Sidecar(live.url, session=each_thread, patience_s=SOON) as paste,
        ):
            through(paste, tools)
            behind = await in_threads(ResearchAgent(tools), asked, 2)
            stats = await live.stats()
    assert behind == plain
    assert all(len(messages) == 2 + 2 * 8 + 1 for messages in plain)
    half = len(llm.asked) // 2
    assert sorted(map(str, llm.asked[:half])) == sorted(map(str, llm.asked[half:]))
    assert stats["sessions"] == len(asked), "a thread's next question is a session of its own"
    assert stats["outcomes"]["reused"] >= 1
    assert stats["saved_s"] > 0
    assert stats["calls"] == len(asked) * 6
    assert (paste.stats.broken, paste.stats.slow, paste.stats.missing) == (0, 0, 0)


async def test_a_job_is_given_what_the_agent_would_give() -> None:
    tools = tool_map()
    async with served() as side:

        def agent() -> tuple[str, list[str]]:
            with Sidecar(side.url, session="task", patience_s=SOON) as paste:
                through(paste, tools)
                arguments: dict[str, Any] = {"url": [PAGES[0]], "goal": "g"}
                arguments["params"] = arguments
                first = tools["visit"].call(arguments)
                jobs = asyncio.run_coroutine_threadsafe(ahead(), loop).result(SOON)
                assert tools["visit"].call(arguments) == first
                assert tools["PythonInterpreter"].call("print(1)") == "stdout:\n8"
                assert (paste.stats.reused, paste.stats.run) == (2, 1)
                return first, jobs

        async def ahead() -> list[str]:
            visit = await side.gate.launch("task", "visit", {"url": [PAGES[0]], "goal": "g"})
            code = await side.gate.launch("task", "PythonInterpreter", {"code": "print(1)"})
            return [(await job).body.decode() for job in (visit, code)]

        loop = asyncio.get_running_loop()
        first, jobs = await asyncio.to_thread(agent)
    assert jobs == [first, "stdout:\n8"]
    assert [call.invocation.arguments for call in side.gate.asked] == [
        {"url": [PAGES[0]], "goal": "g"},
        {"url": [PAGES[0]], "goal": "g"},
        {"code": "print(1)"},
    ]


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("[visit] Failed to read page.", "error"),
        ("Error fetching https://a.example: no route", "error"),
        ("[Search] Invalid request format: no query", "error"),
        ("Google search Timeout, return None, Please try again later.", "error"),
        ("Three pages were found.", "ok"),
    ],
)
async def test_what_its_tools_say_in_place_of_an_exception_is_a_failure(said: str, status: str) -> None:
    class Broken:
        name = "visit"

        def call(self, params: Any, **kwargs: Any) -> str:
            return said

    async with served() as side:

        def agent() -> str:
            with Sidecar(side.url, session="task", patience_s=SOON) as paste:
                tools: dict[str, Any] = {"visit": Broken()}
                through(paste, tools)
                told: str = tools["visit"].call({"url": "u", "goal": "g"})
                return told

        assert await asyncio.to_thread(agent) == said
        await side.gate.until(lambda: bool(side.gate.over))
    (result,) = side.gate.over.values()
    assert result is not None
    assert result.status == status


async def test_calls_in_a_form_that_no_job_can_repeat_run_as_ever() -> None:
    tools = tool_map()
    async with served() as side:

        def agent() -> list[str]:
            with Sidecar(side.url, session="task", patience_s=SOON) as paste:
                through(paste, tools)
                read: list[str] = asyncio.run(tools["parse_file"].call({"files": ["a"]}, file_root_path="here"))
                assert paste.stats.unreadable == 1
                return read

        assert await asyncio.to_thread(agent) == ["here/a: empty"]


def test_a_tool_stays_what_it_is_and_is_wrapped_once() -> None:
    tools, paste = tool_map(), Sidecar()
    inner = tools["visit"]
    through(paste, tools)
    wrapped = dict(tools)
    through(paste, tools)
    assert tools == wrapped
    assert (tools["visit"].name, tools["visit"].parameters) == (inner.name, inner.parameters)
    assert asyncio.iscoroutinefunction(tools["parse_file"].call)
    with pytest.raises(AttributeError):
        _ = tools["visit"].nothing


def test_the_ports_are_shared_out_among_the_llms_servers() -> None:
    written = planning_ports(["http://127.0.0.1:7001", "http://127.0.0.1:7002", "http://10.0.0.3:8000"])
    routes = Config.model_validate(tomllib.loads(written)).llm
    assert [route.ports for route in routes] == [(6001, 6004, 6007), (6002, 6005, 6008), (6003, 6006)]
    assert {route.wire for route in routes} == {"tagged_text"}
    everything = planning_ports([f"http://127.0.0.1:{port + 1000}" for port in PORTS])
    assert [route.ports for route in Config.model_validate(tomllib.loads(everything)).llm] == [(p,) for p in PORTS]
    with pytest.raises(ValueError, match="at least one"):
        planning_ports([])
