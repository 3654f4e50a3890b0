"""Field cases of kind S: from when on a call that an LLM writes is run ahead, through a whole sidecar and sockets."""

import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.field_cases.mcp_world import World, endpoint, speculating
from tests.field_cases.samples import CALLS, SAMPLES, Event, Sample, dumped, framed, typed
from tests.field_cases.tool_servers import Naming
from tests.field_cases.world import Client, Steps
from tests.proxy.llm_world import connect, upstream
from tests.proxy.mcp.client import McpHttpClient


class Talk:
    """An agent that takes an LLM's answer event by event, with a tool server beside."""

    def __init__(self, world: World, server: Naming, mcp: McpHttpClient, llm: Client) -> None:
        self.world, self.server, self.mcp, self.llm = world, server, mcp, llm
        self.launched: list[int] = []
        """Calls that ran ahead by the time each event had arrived."""

    async def hear(self, sample: Sample, events: Sequence[Event]) -> None:
        async def heard(number: int) -> None:
            await self.world.settled()
            self.launched.append(self.world.tally.launched)

        pieces = list(map(framed, events))
        await self.llm.ask(sample.target, sample.body, pieces, headers=b"x-paste-session: task-1\r\n", heard=heard)

    async def call(self, name: str, arguments: dict[str, Any]) -> None:
        await self.mcp.call(name, **arguments)

    def ran(self) -> list[dict[str, Any]]:
        """The arguments of all calls that reached the server."""
        params = [one.message["params"] for one in self.server.seen if one.method == "tools/call"]
        return [one["arguments"] for one in params]


@pytest.fixture
async def talk(tmp_path: Path) -> AsyncIterator[Talk]:
    server, steps = Naming("look", "list"), Steps()
    async with (
        endpoint(server) as there,
        upstream(steps) as llm,
        speculating(tmp_path, "s/*", llm=llm.url, s=there) as world,
    ):
        mcp = await world.client("s").open()
        reader, writer = await connect(int(world.base.rpartition(":")[2]))
        yield Talk(world, server, mcp, Client(reader, writer, steps))
        writer.close()


def seals(sample: Sample) -> list[int]:
    """How many calls each event of a sample has sealed by its end, as the wire's own rule has it."""
    sealed, counts = 0, []
    for _, data in sample.events:
        match sample.wire:
            case "anthropic_messages":
                sealed += data["type"] == "content_block_stop" and data["index"] >= 2
            case "openai_responses":
                sealed += data["type"] == "response.function_call_arguments.done"
            case "gemini":
                sealed += json.dumps(data).count("functionCall")
            case "openai_chat":  # no seal: here the last piece of an object is one, after which nothing can come
                sealed += '}"}}' in json.dumps(data)
        counts.append(sealed)
    return counts


FOUR = [SAMPLES[wire] for wire in ("openai_chat", "openai_responses", "anthropic_messages", "gemini")]


@pytest.mark.parametrize("sample", FOUR, ids=lambda sample: sample.wire)
async def test_b77_a_call_is_started_with_its_seal_and_not_before(talk: Talk, sample: Sample) -> None:
    due = seals(sample)
    assert due[-1] == len(CALLS)
    await talk.hear(sample, sample.events)
    assert talk.launched == due
    assert due.index(len(CALLS)) < len(due) - 1, "long before the end of the answer"
    for name, arguments in CALLS:
        await talk.call(name, arguments)
    assert (talk.world.served, len(talk.ran())) == (2, 2)


def chat(*calls: dict[str, Any] | str) -> list[Event]:
    """Chat Completions events: a fragment each, or a finish reason."""
    deltas = [({}, call) if isinstance(call, str) else ({"tool_calls": [call]}, None) for call in calls]
    choices = [{"index": 0, "delta": delta, "finish_reason": finish} for delta, finish in deltas]
    return [*((None, {"id": "c", "choices": [choice]}) for choice in choices), (None, "[DONE]")]


def part(index: int, arguments: str, name: str = "") -> dict[str, Any]:
    head = {"id": f"c{index}", "type": "function"} if name else {}
    function = {"name": name, "arguments": arguments} if name else {"arguments": arguments}
    return {"index": index, **head, "function": function}


CHAT = SAMPLES["openai_chat"]


@pytest.mark.parametrize("blank", ["", " ", "\n"])
async def test_b77_arguments_that_may_still_begin_wait_for_the_next_call_or_the_end(talk: Talk, blank: str) -> None:
    await talk.hear(CHAT, chat(part(0, blank, "list"), part(1, "", "look"), part(1, blank), "tool_calls"))
    assert talk.launched == [0, 1, 1, 2, 2]
    await talk.call("list", {})
    assert talk.world.served == 1


@pytest.mark.parametrize("text", ['{"q":"a', '{"q":{"a":1}', '{"q":"}', '{"q":"\\"}', '{"q":[{},{"a":2}]', '{"n":1'])
async def test_b77_an_object_that_is_not_closed_is_not_started(talk: Talk, text: str) -> None:
    pieces = [part(0, letter) for letter in text]
    await talk.hear(CHAT, chat(part(0, "", "look"), *pieces, part(1, "{}", "list"), "tool_calls"))
    before = 1 + len(text)
    assert talk.launched == [*[0] * before, 1, 1, 1], "only the call after it"
    assert talk.ran() == [{}]


async def test_b77_what_grew_after_it_looked_whole_answers_nothing_but_what_it_was(talk: Talk) -> None:
    glued = ('{"q":1}', '{"q":2}')
    await talk.hear(CHAT, chat(part(0, "", "look"), *(part(0, text) for text in glued), "tool_calls"))
    await talk.call("look", {"q": 2})
    assert talk.world.served == 0
    assert talk.ran()[-1] == {"q": 2}


@pytest.mark.parametrize("sample", FOUR[1:3], ids=lambda sample: sample.wire)
async def test_b77_an_object_without_the_seal_that_its_wire_has_is_not_started(talk: Talk, sample: Sample) -> None:
    whole = seals(sample).index(1)
    await talk.hear(sample, sample.events[:whole])
    assert talk.launched == [0] * whole
    assert talk.ran() == []


async def test_b77_the_item_s_end_is_a_seal_where_the_arguments_have_none(talk: Talk) -> None:
    kind = "response.function_call_arguments.done"
    responses = SAMPLES["openai_responses"]
    events = [event for event in responses.events if event[0] != kind]
    ends = [event[1]["type"] == "response.output_item.done" and "name" in event[1]["item"] for event in events]
    await talk.hear(responses, events)
    assert talk.launched == [sum(ends[: at + 1]) for at in range(len(ends))]


async def test_b77_a_blank_input_waits_for_what_follows_its_block(talk: Talk) -> None:
    def block(index: int, name: str) -> list[dict[str, Any]]:
        use = {"type": "tool_use", "id": f"t{index}", "name": name, "input": {}}
        return [
            {"type": "content_block_start", "index": index, "content_block": use},
            {"type": "content_block_stop", "index": index},
        ]

    head = {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}}
    end = {"type": "message_delta", "delta": {"stop_reason": "tool_use"}}
    events = typed(head, *block(0, "list"), *block(1, "look"), end, {"type": "message_stop"})
    await talk.hear(SAMPLES["anthropic_messages"], events)
    assert talk.launched[:5] == [0, 0, 0, 1, 1]
    assert talk.launched[-1] == 2


async def test_b77_arguments_streamed_in_pieces_wait_for_the_piece_that_says_it_is_the_last(talk: Talk) -> None:
    def piece(goes_on: bool, **value: Any) -> Event:
        path = {"jsonPath": f"$.{next(iter(value))}"}
        given = {"stringValue" if isinstance(one, str) else "numberValue": one for one in value.values()}
        call = {"name": "look", "partialArgs": [{**path, **given}], **({"willContinue": True} if goes_on else {})}
        return None, {"candidates": [{"index": 0, "content": {"role": "model", "parts": [{"functionCall": call}]}}]}

    end = {"candidates": [{"index": 0, "content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": "STOP"}]}
    events = [piece(True, q="a"), piece(True, q="b"), piece(False, n=1), (None, end)]
    await talk.hear(SAMPLES["gemini"], events)
    assert talk.launched == [0, 0, 1, 1]
    await talk.call("look", {"q": "ab", "n": 1})
    assert (talk.world.served, talk.ran()) == (1, [{"q": "ab", "n": 1}])


@pytest.mark.parametrize("sample", FOUR, ids=lambda sample: sample.wire)
async def test_b77_a_whole_answer_that_is_not_streamed_starts_its_calls_at_its_end(talk: Talk, sample: Sample) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    body, heard = dumped(sample.whole), list[int]()

    async def note(number: int) -> None:
        await talk.world.settled()
        heard.append(talk.world.tally.launched)

    pieces, own = [body[:-1], body[-1:]], b"x-paste-session: task-1\r\n"
    await talk.llm.ask(sample.target, sample.body, pieces, head=head, headers=own, heard=note)
    await talk.world.settled()
    assert heard[0] == 0
    for name, arguments in CALLS:
        await talk.call(name, arguments)
    assert len(talk.ran()) == 2
