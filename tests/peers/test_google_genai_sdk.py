"""The official google-genai client streams function calls through the sidecar."""

from pathlib import Path
from typing import Any

import pytest
from google import genai
from google.genai import types

from paste_proxy.events.result import Status
from paste_proxy.events.types import CallSealed, LlmTurn, ToolOutput
from tests.peers.observed import Observed, end_to_end, observed, streaming
from tests.proxy.llm_world import Seen, Upstream, upstream
from tests.wire.gemini_streams import call, dumped, response, said, sse

pytestmark = [
    pytest.mark.peer,
    pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession from ClientSession:DeprecationWarning"),
]

TOOL = types.Tool(
    function_declarations=[
        types.FunctionDeclaration(name=name, parameters_json_schema={"type": "object"}) for name in ("look", "clock")
    ]
)
ASKING = sse(
    response(said("I wonder.", thought=True)),
    response(said("I look é")),
    response(said("😀 there.")),
    response(call("look", {"q": "smør"}, signature="c2ln"), call("look", {"q": "b"}), call("clock")),
    response(said(""), finish="STOP"),
)
DONE = sse(response(said("Done."), finish="STOP"))


def script(request: Seen) -> bytes:
    return DONE if b"functionResponse" in request.body else ASKING


async def agent(base_url: str) -> list[Any]:
    """A chat whose first turn asks for three calls, and its second after their results."""
    options = types.HttpOptions(base_url=base_url)
    config = types.GenerateContentConfig(
        system_instruction="be brief",
        tools=[TOOL],
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    yielded: list[Any] = []
    client = genai.Client(api_key="k", http_options=options).aio
    try:
        chat = client.chats.create(model="gemini-x", config=config)
        message: Any = "find it"
        while message:
            chunks = [chunk async for chunk in await chat.send_message_stream(message)]
            yielded += [chunk.model_dump(exclude={"sdk_http_response"}) for chunk in chunks]
            message = [result_of(asked) for chunk in chunks for asked in chunk.function_calls or []]
    finally:
        await client.aclose()
    return yielded


def result_of(asked: types.FunctionCall) -> types.Part:
    said = {"error": "stopped"} if asked.name == "clock" else {"output": f"of {(asked.args or {})['q']}"}
    return types.Part.from_function_response(name=asked.name or "", response=said)


async def both(folder: Path) -> tuple[Upstream, Observed]:
    """The agent without and with the sidecar, both yielding the same."""
    async with upstream(streaming(script)) as there:
        async with observed(folder, there.url) as side:
            direct = await agent(there.url)
            assert await agent(side.url) == direct
        assert len(direct) == 6
        return there, side


async def test_the_client_gets_the_same_and_the_upstream_too(tmp_path: Path) -> None:
    there, side = await both(tmp_path)
    direct, relayed = there.seen[:2], there.seen[2:]
    assert [seen.body for seen in direct] == [seen.body for seen in relayed]
    assert [seen.target for seen in direct] == [seen.target for seen in relayed]
    assert all(seen.target.endswith(b"/models/gemini-x:streamGenerateContent?alt=sse") for seen in relayed)
    assert [end_to_end(seen) for seen in direct] == [end_to_end(seen) for seen in relayed]
    assert not side.tally.faults


async def test_the_hub_sees_one_session_its_calls_turns_and_results_although_nothing_names_them(tmp_path: Path) -> None:
    there, side = await both(tmp_path)
    assert b'"id"' not in there.seen[-1].body
    events = side.events()
    assert len({event.session for event in events}) == 1
    calls = [event for event in events if isinstance(event, CallSealed)]
    assert [(c.turn, c.order, c.invocation.tool, c.invocation.arguments) for c in calls] == [
        (1, 0, "look", {"q": "smør"}),
        (1, 1, "look", {"q": "b"}),
        (1, 2, "clock", {}),
    ]
    turns = [event for event in events if isinstance(event, LlmTurn)]
    assert [(t.text, t.complete, t.input_tokens) for t in turns] == [
        ("I look é😀 there.", True, 100),
        ("Done.", True, 100),
    ]
    outputs = [event for event in events if isinstance(event, ToolOutput)]
    assert [(o.call_id, o.output, o.status) for o in outputs] == [
        (calls[0].call_id, "of smør", Status.OK),
        (calls[1].call_id, "of b", Status.OK),
        (calls[2].call_id, "stopped", Status.ERROR),
    ]
    assert (side.tally.turns, side.tally.utility_turns, side.tally.incomplete_turns) == (2, 0, 0)


async def test_an_answer_that_is_not_streamed_is_seen_too(tmp_path: Path) -> None:
    whole = dumped(response(said("I look."), call("look", {"q": "a"}), finish="STOP"))
    config = types.GenerateContentConfig(tools=[TOOL])
    async with (
        upstream(streaming(lambda _: whole, b"application/json")) as there,
        observed(tmp_path, there.url) as side,
        genai.Client(api_key="k", http_options=types.HttpOptions(base_url=side.url)).aio as client,
    ):
        answer = await client.models.generate_content(model="gemini-x", contents="find it", config=config)
    assert [(asked.name, asked.args) for asked in answer.function_calls or []] == [("look", {"q": "a"})]
    calls = [event for event in side.events() if isinstance(event, CallSealed)]
    assert [(c.invocation.tool, c.invocation.arguments) for c in calls] == [("look", {"q": "a"})]
