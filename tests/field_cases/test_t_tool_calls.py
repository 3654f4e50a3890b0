"""Field cases of kind T: how calls are put together from what servers send, and what passes on meanwhile."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from paste_proxy.wire.types import TurnEnd
from tests.field_cases.samples import SAMPLES, Event, Sample, dumped, framed, typed
from tests.field_cases.world import brief, everywhere, observing, read, wires

EACH = pytest.mark.parametrize("sample", wires(), ids=lambda sample: sample.wire)
CUT = '{"path":"/srv/a","conte'
Call = tuple[str, dict[str, Any]]


def chat(*calls: Any, finish: str | None = "tool_calls") -> bytes:
    """A chat stream with one delta for each entry of `tool_calls`, a dict being a whole delta."""
    deltas = [call if "tool_calls" in call else {"tool_calls": [call]} for call in calls]
    events: list[Event] = [(None, {"id": "c", "choices": [{"index": 0, "delta": delta}]}) for delta in deltas]
    if finish:
        events.append((None, {"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}))
    return b"".join(map(framed, [*events, (None, "[DONE]")]))


def part(arguments: str | None = None, name: str | None = None, **more: Any) -> dict[str, Any]:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    return {**more, "function": function}


async def live(
    folder: Path, sample: Sample, stream: bytes, pieces: Iterable[bytes] = ()
) -> tuple[list[Call], bool, TurnEnd]:
    """The bytes through a live sidecar, untouched; the calls and the completeness it recorded, and the reader's end."""
    parts = list(pieces) or [stream]
    async with observing(folder, sample.wire) as side, side.client() as client:
        assert await client.ask(sample.target, sample.body, parts) == stream
    calls = [(event["tool"], event["args"]) for event in side.events("call_sealed") if event["turn"] == 1]
    (turn,) = side.events("llm_turn")
    return calls, turn["complete"], everywhere(sample.wire, stream)


CHAT = SAMPLES["openai_chat"]


async def test_b01_calls_without_an_index_are_calls_of_their_own(tmp_path: Path) -> None:
    stream = chat(part("{}", "f", id="a"), part("{}", "g", id="b"))
    calls, complete, end = await live(tmp_path, CHAT, stream)
    assert (calls, complete) == ([("f", {}), ("g", {})], True)
    assert [call.call_id for call in end.calls] == ["a", "b"]


async def test_b01_an_argument_without_index_or_id_goes_on_with_the_open_call(tmp_path: Path) -> None:
    stream = chat(part('{"x"', "f", id="a"), part(":1}"), part('{"y":', "g"), part("2}"))
    calls, complete, _ = await live(tmp_path, CHAT, stream)
    assert (calls, complete) == ([("f", {"x": 1}), ("g", {"y": 2})], True)


async def test_b02_an_index_is_a_key_and_no_position(tmp_path: Path) -> None:
    stream = chat(part('{"x":', "f", index=1, id="a"), part("1}", index=1))
    calls, complete, end = await live(tmp_path, CHAT, stream)
    assert (calls, complete, [call.order for call in end.calls]) == ([("f", {"x": 1})], True, [0])


@EACH
async def test_b02_the_first_call_of_a_stream_that_says_other_things_first_is_the_first(
    sample: Sample, tmp_path: Path
) -> None:
    """Reasoning and text hold the first indexes of Responses and of Messages."""
    calls, complete, end = await live(tmp_path, sample, sample.stream())
    assert [call.order for call in end.calls] == list(range(len(calls)))
    assert (calls, complete) == (brief(end.calls), True)


@EACH
async def test_b03_every_fragment_is_here_before_the_next_is_sent(sample: Sample, tmp_path: Path) -> None:
    pieces = list(map(framed, sample.events))
    calls, complete, end = await live(tmp_path, sample, b"".join(pieces), pieces)
    assert (calls, complete) == (brief(end.calls), True)


async def test_b03_fragments_without_an_id_belong_to_their_index(tmp_path: Path) -> None:
    text = '{"q":"0123456789 ab"}'
    fragments = [part("", "f", index=0, id="x"), *(part(letter, index=0, id=None) for letter in text)]
    stream = chat(*fragments)
    pieces = [event + b"\n\n" for event in stream.split(b"\n\n") if event]
    calls, _, _ = await live(tmp_path, CHAT, stream, pieces)
    assert calls == [("f", {"q": "0123456789 ab"})]


async def test_b04_an_id_in_every_fragment_is_one_call(tmp_path: Path) -> None:
    stream = chat(*(part(text, "f", index=0, id="x") for text in ('{"a":', "1", "}")))
    calls, complete, end = await live(tmp_path, CHAT, stream)
    assert (calls, complete, len(end.calls)) == ([("f", {"a": 1})], True, 1)


async def test_b06_a_call_counts_whatever_the_finish_reason_says(tmp_path: Path) -> None:
    stream = chat(
        part('{"city":', "weather", id="w"),
        part('"Oslo"}'),
        {"tool_calls": [{"extra_content": {"google": {"thought_signature": "c2ln"}}}]},
        finish="stop",
    )
    calls, complete, end = await live(tmp_path, CHAT, stream)
    assert (calls, complete, end.finish) == ([("weather", {"city": "Oslo"})], True, "stop")


def _calling(wire: str, arguments: str | None, *, absent: bool = False, finish: str = "") -> tuple[bytes, bytes]:
    """A turn with one call `f`, its arguments as that text, streamed and whole; Gemini's arguments are no text."""
    match wire:
        case "openai_chat" | "tagged_text":
            function: dict[str, Any] = {"name": "f"} if absent else {"name": "f", "arguments": arguments}
            call = {"index": 0, "id": "x", "type": "function", "function": function}
            choice = {"index": 0, "message": {"role": "assistant", "tool_calls": [call]}, "finish_reason": "tool_calls"}
            choice |= {"finish_reason": finish} if finish else {}
            return chat(call, finish=finish or "tool_calls"), dumped({"id": "c", "choices": [choice]})
        case "openai_responses":
            item: dict[str, Any] = {
                "type": "function_call",
                "id": "fc",
                "call_id": "x",
                "name": "f",
                "status": "completed",
            }
            item |= {} if absent else {"arguments": arguments}
            whole: dict[str, Any] = {"id": "r", "status": "completed", "output": [item]}
            kind = "response.completed"
            if finish:
                kind = "response.incomplete"
                whole |= {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
            added = {"type": "response.output_item.added", "output_index": 0, "item": {**item, "arguments": ""}}
            done = {"type": "response.output_item.done", "output_index": 0, "item": item}
            events = typed(added, done, {"type": kind, "response": whole})
            return b"".join(map(framed, events)), dumped(whole)
        case "anthropic_messages":
            block = {"type": "tool_use", "id": "x", "name": "f", "input": {}}
            stop = finish or "tool_use"
            deltas: list[dict[str, Any]] = []
            if arguments is not None and not absent:
                deltas = [{"type": "input_json_delta", "partial_json": arguments}]
            events = typed(
                {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}},
                {"type": "content_block_start", "index": 0, "content_block": block},
                *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
                {"type": "content_block_stop", "index": 0},
                {"type": "message_delta", "delta": {"stop_reason": stop}},
                {"type": "message_stop"},
            )
            if absent:
                del block["input"]
            return b"".join(map(framed, events)), dumped(
                {"id": "m", "type": "message", "role": "assistant", "content": [block], "stop_reason": stop}
            )
        case _:
            given: dict[str, Any] = {"name": "f"} if absent else {"name": "f", "args": {} if arguments else None}
            candidate = {"content": {"role": "model", "parts": [{"functionCall": given}]}, "finishReason": "STOP"}
            candidate |= {"finishReason": "MAX_TOKENS"} if finish else {}
            answer = {"responseId": "r", "candidates": [candidate]}
            return framed((None, answer)), dumped(answer)


def _but(wire: str) -> list[Sample]:
    """The samples of all wires whose arguments are a text of their own, so that it can be empty, or cut."""
    return [sample for sample in wires() if sample.form != wire]


@pytest.mark.parametrize("sample", _but("tagged_text"), ids=lambda sample: sample.wire)
@pytest.mark.parametrize("arguments", ["", " ", None, "absent"])
async def test_b36_no_arguments_in_any_form_are_none(sample: Sample, arguments: str | None, tmp_path: Path) -> None:
    stream, whole = _calling(sample.form, arguments, absent=arguments == "absent")
    calls, complete, end = await live(tmp_path, sample, stream)
    assert (calls, complete) == ([("f", {})], True)
    once = read(sample.wire, [whole], content_type="application/json")[1]
    assert (brief(once.calls), once.complete, once.digest) == ([("f", {})], True, end.digest)


@EACH
async def test_b37_arguments_cut_for_length_are_no_call_and_the_turn_is_incomplete(
    sample: Sample, tmp_path: Path
) -> None:
    finish = "max_tokens" if sample.wire == "anthropic_messages" else "length"
    stream, whole = _calling(sample.form, CUT, finish=finish)
    if sample.form == "tagged_text":
        text = '<tool_call>\n{"name":"f","arguments":' + CUT
        choice = {"index": 0, "finish_reason": "length"}
        stream = framed((None, {"choices": [{**choice, "delta": {"content": text}}]})) + framed((None, "[DONE]"))
        whole = dumped({"choices": [{**choice, "message": {"role": "assistant", "content": text}}]})
    calls, complete, end = await live(tmp_path, sample, stream)
    assert (complete, end.complete) == (False, False)
    assert calls == [] or sample.wire == "gemini", "a Gemini call is whole or not there"
    once = read(sample.wire, [whole], content_type="application/json")[1]
    assert not once.complete


@pytest.mark.parametrize("sample", _but("gemini"), ids=lambda sample: sample.wire)
async def test_b55_the_finish_reason_does_not_make_cut_arguments_whole(sample: Sample, tmp_path: Path) -> None:
    stream, whole = _calling(sample.form, CUT)
    if sample.form == "tagged_text":
        text = '<tool_call>\n{"name":"f","arguments":' + CUT
        choice = {"index": 0, "finish_reason": "stop"}
        stream = framed((None, {"choices": [{**choice, "delta": {"content": text}}]})) + framed((None, "[DONE]"))
        whole = dumped({"choices": [{**choice, "message": {"role": "assistant", "content": text}}]})
    calls, complete, end = await live(tmp_path, sample, stream)
    assert (calls, complete, end.calls) == ([], False, ())
    if sample.wire != "anthropic_messages":  # its whole answers hold arguments as objects
        once = read(sample.wire, [whole], content_type="application/json")[1]
        assert (once.calls, once.complete) == ((), False)


async def test_b38_two_calls_of_one_id_are_two_and_so_is_the_next_turns(tmp_path: Path) -> None:
    """And what came back is put to the call that stands in its place."""
    first = chat(part('{"n":1}', "f", index=0, id="call_0"), part('{"n":2}', "f", index=1, id="call_0"))
    second = chat(part('{"n":3}', "f", index=0, id="call_0"))
    asked: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "go"}]}

    def answered(*numbers: int) -> list[dict[str, Any]]:
        calls = [{"id": "call_0", "function": {"name": "f", "arguments": json.dumps({"n": n})}} for n in numbers]
        outputs = [{"role": "tool", "tool_call_id": "call_0", "content": f"out {n}"} for n in numbers]
        return [{"role": "assistant", "tool_calls": calls}, *outputs]

    async with observing(tmp_path) as side, side.client() as client:
        await client.ask(CHAT.target, dumped(asked), [first])
        asked["messages"] += answered(1, 2)
        await client.ask(CHAT.target, dumped(asked), [second])
        asked["messages"] += answered(3)
        await client.ask(CHAT.target, dumped(asked), [chat(finish="stop")])
    assert [event["args"]["n"] for event in side.events("call_sealed")] == [1, 2, 3]
    assert len({event["session"] for event in side.events()}) == 1
    outputs = [event for event in side.events() if event["type"] in ("tool_call", "tool_output")]
    paired = [(call["args"]["n"], out["output"]) for call, out in _pairs(outputs)]
    assert paired == [(1, "out 1"), (2, "out 2"), (3, "out 3")]


def _pairs(events: list[dict[str, Any]]) -> Iterable[tuple[dict[str, Any], dict[str, Any]]]:
    calls = [event for event in events if event["type"] == "tool_call"]
    return zip(calls, [event for event in events if event["type"] == "tool_output"], strict=True)
