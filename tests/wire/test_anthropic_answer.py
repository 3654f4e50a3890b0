"""Answers of the Messages API: blocks put together as the vendor and its imitators really stream them."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.wire.anthropic_messages import AnthropicMessages
from paste_proxy.wire.types import SeenCall, TurnEnd
from tests.wire.anthropic_streams import PING, STOP, answer, delta, ended, events, opened, start, stopped, text, tool
from tests.wire.reading import JSON, SSE, answered_by
from tests.wire.streams import brief, cuts

F: tuple[int, str, str, Any] = (0, "a", "f", {})
X: tuple[int, str, str, Any] = (0, "a", "f", {"x": 1})
G: tuple[int, str, str, Any] = (1, "b", "g", {"x": 1})

WHOLE = tool(0, "a", "f", "", '{"x"', ": 1}")


def answered(chunks: list[bytes], *, clean: bool = True, content_type: str = SSE) -> tuple[list[SeenCall], TurnEnd]:
    return answered_by(AnthropicMessages(), chunks, clean=clean, content_type=content_type)


ASSEMBLED: dict[str, tuple[bytes, list[tuple[int, str, str, Any]]]] = {
    "input-in-pieces": (answer(WHOLE), [X]),
    "B10-crlf": (answer(WHOLE, end=b"\r\n\r\n"), [X]),
    "B10-cr": (answer(WHOLE, end=b"\r\r"), [X]),
    "B11-no-space": (answer(WHOLE).replace(b"data: ", b"data:").replace(b"event: ", b"event:"), [X]),
    "B20-thinking-with-its-signature-before-the-call": (
        answer(
            [
                opened(0, "thinking", thinking="", signature=""),
                delta(0, "thinking_delta", thinking="so"),
                delta(0, "thinking_delta", thinking=" it is"),
                delta(0, "signature_delta", signature="c2ln"),
                stopped(0),
            ],
            [opened(1, "redacted_thinking", data="x"), stopped(1)],
            tool(2, "a", "f", '{"x":1}'),
        ),
        [X],
    ),
    "B36-no-deltas": (answer(tool(0, "a", "f")), [F]),
    "B36-empty-deltas": (answer(tool(0, "a", "f", "", "")), [F]),
    "B36-blank": (answer(tool(0, "a", "f", " ")), [F]),
    "B36-null": (answer(tool(0, "a", "f", "null")), [F]),
    "B36-no-input-at-all": (answer([opened(0, "tool_use", id="a", name="f"), stopped(0)]), [F]),
    "the-whole-input-in-the-start": (answer(tool(0, "a", "f", given={"x": 1})), [X]),
    "B38-one-id-twice": (
        answer(tool(0, "c", "f", "{}"), tool(1, "c", "f", '{"x":1}')),
        [(0, "c", "f", {}), (1, "c", "f", {"x": 1})],
    ),
    "B59-unknown-fields-deltas-blocks-and-events": (
        answer(
            [
                {"type": "new_event", "index": 0},
                opened(0, "new_block"),
                delta(0, "new_delta", partial_json="{"),
                stopped(0),
            ],
            [{**event, "new": []} for event in tool(1, "a", "f", "{}")],
        ),
        [F],
    ),
    "B60-pings-anywhere": (events(PING, start(), PING, *WHOLE[:2], PING, *WHOLE[2:], PING, ended(), PING, STOP), [X]),
    "two-calls": (answer(tool(0, "a", "f"), tool(1, "b", "g", '{"x":1}')), [F, G]),
    "interleaved": (
        answer(
            [
                opened(0, "tool_use", id="a", name="f"),
                *tool(1, "b", "g", '{"x":1}'),
                delta(0, "input_json_delta", partial_json='{"x":1}'),
                stopped(0),
            ]
        ),
        [X, G],
    ),
    "no-stops-and-one-index-for-all": (
        answer(tool(0, "a", "f", "{}", whole=False), tool(0, "b", "g", '{"x":1}', whole=False)),
        [F, G],
    ),
    "what-the-vendor-runs-is-no-call": (
        answer(
            [
                opened(0, "server_tool_use", id="srvtoolu_1", name="web_search", input={}),
                delta(0, "input_json_delta", partial_json='{"query":"q"}'),
                stopped(0),
            ],
            [opened(1, "web_search_tool_result", tool_use_id="srvtoolu_1", content=[]), stopped(1)],
            tool(2, "a", "f"),
        ),
        [F],
    ),
    "half-a-character-per-delta": (
        answer(tool(0, "a", "f", '{"x":"HIGH', 'LOW"}')).replace(b"HIGH", rb"\ud83d").replace(b"LOW", rb"\ude00"),
        [(0, "a", "f", {"x": "😀"})],
    ),
}


@pytest.mark.parametrize(("stream", "calls"), ASSEMBLED.values(), ids=ASSEMBLED.keys())
def test_calls_are_put_together_and_given_once_wherever_the_stream_is_cut(
    stream: bytes, calls: list[tuple[int, str, str, Any]]
) -> None:
    for chunks in cuts(stream):
        seen, end = answered(chunks)
        assert sorted(brief(seen)) == sorted(brief(end.calls)) == calls
        assert (end.complete, end.finish) == (True, "tool_use")


CUT = tool(0, "a", "f", '{"path":"/srv/a","conte')

INCOMPLETE: dict[str, tuple[bytes, int]] = {
    "B37-cut-by-length": (answer(CUT, reason="max_tokens"), 0),
    "B37-length-although-the-input-parses": (answer(WHOLE, reason="max_tokens"), 1),
    "B37-length-before-any-input": (answer(tool(0, "a", "f"), reason="max_tokens"), 0),
    "the-context-is-full": (answer(WHOLE, reason="model_context_window_exceeded"), 1),
    "a-refusal": (answer(text(0, "I can"), reason="refusal"), 0),
    "a-pause-for-the-vendors-tools": (answer(text(0, "I search."), reason="pause_turn"), 0),
    "B55-cut-but-the-reason-says-tool-use": (answer(CUT), 0),
    "B55-a-whole-call-and-a-cut-one": (answer(WHOLE, tool(1, "b", "g", '{"a')), 1),
    "B56-no-reason-and-no-end": (events(start(), *WHOLE), 1),
    "B56-text-only": (events(start(), *text(0, "a", "b")), 0),
    "B56-empty-input-in-a-stream-that-just-stops": (events(start(), *tool(0, "a", "f")), 0),
    "B45-an-error-after-content": (
        events(start(), *WHOLE, {"type": "error", "error": {"type": "overloaded_error"}}, ended(), STOP),
        1,
    ),
    "B45-an-event-that-does-not-read": (events(start(), *WHOLE) + b'data: {"type":\n\n' + events(ended(), STOP), 1),
    "input-that-is-no-object": (answer(tool(0, "a", "f", "[1]")), 0),
    "input-for-a-block-that-never-began": (answer([delta(3, "input_json_delta", partial_json="{}")]), 0),
    "input-after-the-end-of-its-block": (answer([*WHOLE, delta(0, "input_json_delta", partial_json="x")]), 1),
    "a-call-of-no-tool": (answer([opened(0, "tool_use", id="a", input={}), stopped(0)]), 0),
    "nothing-at-all": (b"", 0),
}


@pytest.mark.parametrize(("stream", "calls"), INCOMPLETE.values(), ids=INCOMPLETE.keys())
def test_an_answer_that_is_not_whole_is_never_complete(stream: bytes, calls: int) -> None:
    for chunks in cuts(stream):
        seen, end = answered(chunks)
        assert not end.complete
        assert len(end.calls) == len(seen) == calls


def test_b77_a_call_is_given_at_the_end_of_its_block() -> None:
    reader = AnthropicMessages().reader(content_type=SSE)
    assert reader.feed(events(start(), *WHOLE[:-1])) == []
    assert brief(reader.feed(events(WHOLE[-1]))) == [X]
    assert reader.feed(events(ended(), STOP)) == []


def test_b37_a_blank_input_waits_until_it_is_sure_that_no_more_was_to_come() -> None:
    reader = AnthropicMessages().reader(content_type=SSE)
    assert reader.feed(events(start(), *tool(0, "a", "f", ""))) == []
    assert brief(reader.feed(events(*text(1, "and")[:1]))) == [F]


def test_b45_a_connection_that_breaks_after_message_stop_was_whole() -> None:
    assert answered([answer(WHOLE)], clean=False)[1].complete
    assert answered([answer(WHOLE, done=False)])[1].complete
    assert not answered([answer(WHOLE, done=False)], clean=False)[1].complete


def test_b45_a_last_event_without_its_blank_line_counts() -> None:
    assert answered([answer(text(0, "a"), reason="end_turn")[:-2]], clean=False)[1].complete


def test_b09_b14_text_is_put_together_by_characters_and_thinking_is_none_of_it() -> None:
    thought = [opened(0, "thinking", thinking=""), delta(0, "thinking_delta", thinking="hm"), stopped(0)]
    cited = [opened(2, "text", text="a\u2028"), delta(2, "citations_delta", citation={"cited_text": "z"})]
    stream = answer(thought, text(1, "é😀"), [*cited, delta(2, "text_delta", text="b"), stopped(2)], reason="end_turn")
    for chunks in cuts(stream):
        end = answered(chunks)[1]
        assert (end.text, end.complete, end.finish) == ("é😀a\u2028b", True, "end_turn")


def test_tokens_are_those_read_with_or_without_the_cache_and_the_last_count_written() -> None:
    begun = start(input_tokens=3, cache_creation_input_tokens=10, cache_read_input_tokens=200, output_tokens=1)
    end = answered([events(begun, *text(0, "a"), ended("end_turn", output_tokens=9, input_tokens=None), STOP)])[1]
    assert (end.input_tokens, end.output_tokens, end.response_id) == (213, 9, "msg_1")
    nothing = answered([events(STOP)])[1]
    assert (nothing.input_tokens, nothing.output_tokens) == (None, None)


BODY = {
    "id": "msg_9",
    "type": "message",
    "role": "assistant",
    "content": [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "a", "name": "f", "input": {}},
        {"type": "tool_use", "id": "a", "name": "g", "input": {"x": 1, "y": "}{\\"}},
    ],
    "stop_reason": "tool_use",
    "usage": {"input_tokens": 3, "output_tokens": 4},
}


def whole(**fields: Any) -> bytes:
    return json.dumps(BODY | fields, indent=1).encode()


def test_an_answer_that_is_not_streamed_gives_its_calls_with_its_last_byte() -> None:
    for chunks in cuts(whole()):
        reader = AnthropicMessages().reader(content_type=JSON)
        given = [len(reader.feed(chunk)) for chunk in chunks if chunk]
        end = reader.close(clean=True)
        assert given == [0] * (len(given) - 1) + [2]
        assert brief(end.calls) == [(0, "a", "f", {}), (1, "a", "g", {"x": 1, "y": "}{\\"})]
        assert (end.text, end.complete, end.finish, end.response_id) == ("I look.", True, "tool_use", "msg_9")
        assert (end.input_tokens, end.output_tokens) == (3, 4)


@pytest.mark.parametrize(
    "body",
    [
        whole(stop_reason="max_tokens"),
        whole(stop_reason=None),
        whole(content=[{"type": "tool_use", "id": "a", "name": "f", "input": [1]}]),
        whole()[:-1],
        b'{"type":"error","error":{"type":"overloaded_error"}}',
        b"",
        b"<html>",
    ],
    ids=["B37-length", "no-reason", "input-no-object", "cut-body", "error", "empty", "html"],
)
def test_a_json_answer_that_is_not_whole_is_incomplete(body: bytes) -> None:
    assert not answered([body], content_type=JSON)[1].complete


@pytest.mark.parametrize("content_type", [JSON, SSE])
def test_beyond_the_limit_a_reader_goes_deaf(content_type: str) -> None:
    reader = AnthropicMessages(max_answer_bytes=1000).reader(content_type=content_type)
    for _ in range(20):
        reader.feed(b" " * 100 + b"\n\n")
    assert reader.feed(whole() if content_type == JSON else answer(WHOLE)) == []
    assert not reader.close(clean=True).complete


@given(st.lists(st.integers(0, 2000), max_size=30), st.sampled_from(list(ASSEMBLED)))
def test_any_cutting_gives_the_same(places: list[int], name: str) -> None:
    stream = ASSEMBLED[name][0]
    edges = [0, *sorted(place % (len(stream) + 1) for place in places), len(stream)]
    assert answered([stream[a:b] for a, b in pairwise(edges)]) == answered([stream])
