"""Chat Completions answers: tool calls put together as servers in the field really stream them."""

import json
from typing import Any

import pytest

from paste_proxy.wire.openai_chat import OpenAiChat
from tests.wire.streams import answered, brief, calling, cuts, delta, part, sse

F: tuple[int, str, str, Any] = (0, "a", "f", {})
G: tuple[int, str, str, Any] = (1, "b", "g", {"x": 1})

ASSEMBLED: dict[str, tuple[bytes, list[tuple[int, str, str, Any]]]] = {
    "B01-new-id-is-a-new-slot": (calling(part("{}", id="a", name="f"), part('{"x":1}', id="b", name="g")), [F, G]),
    "B01-no-id-goes-on-with-the-open-slot": (
        calling(part("", id="a", name="f"), part("{"), part("}"), part('{"x"', id="b", name="g"), part(":1}")),
        [F, G],
    ),
    "B01-new-name-is-a-new-slot": (
        calling(part("{}", name="f"), part('{"x":1}', name="g")),
        [(0, "", "f", {}), (1, "", "g", {"x": 1})],
    ),
    "B01-same-name-again-after-a-whole-object": (
        calling(part("{}", name="f"), part('{"x":1}', name="f")),
        [(0, "", "f", {}), (1, "", "f", {"x": 1})],
    ),
    "B01-index-only-at-first": (
        calling(part('{"x"', index=0, id="a", name="f"), part(":1}")),
        [(0, "a", "f", {"x": 1})],
    ),
    "B01-every-call-at-index-0": (
        calling(part("{}", index=0, id="a", name="f"), part('{"x":1}', index=0, id="b", name="g")),
        [F, G],
    ),
    "B02-first-index-is-1": (
        calling(part("", index=1, id="a", name="f"), part('{"x":', index=1), part("1}", index=1)),
        [(0, "a", "f", {"x": 1})],
    ),
    "B02-index-is-opaque": (calling(part("{}", index="z", id="a", name="f"), part("", index="z")), [F]),
    "B03-only-the-first-has-an-id": (
        sse(
            delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}}]),
            *(delta(tool_calls=[{"index": 0, "id": None, "function": {"arguments": c}}]) for c in '{"path": "/srv"}'),
            delta("tool_calls"),
        ),
        [(0, "a", "f", {"path": "/srv"})],
    ),
    "B04-the-same-id-in-every-delta": (
        calling(*(part(text, index=0, id="a", name="f") for text in ('{"x"', ":1", "}"))),
        [(0, "a", "f", {"x": 1})],
    ),
    "B04-an-id-made-up-for-every-delta": (
        calling(part('{"x"', index=0, id="a", name="f"), part(":1}", index=0, id="zz"), part("", index=0, id="yy")),
        [(0, "a", "f", {"x": 1})],
    ),
    "B06-no-index-finish-stop-and-extra-content": (
        sse(
            delta(tool_calls=[{"id": "a", "function": {"name": "f", "arguments": '{"x"'}}]),
            delta(tool_calls=[{"function": {"arguments": ":1}"}}]),
            delta(tool_calls=[{"extra_content": {"google": {"thought_signature": "s"}}}]),
            delta("stop"),
        ),
        [(0, "a", "f", {"x": 1})],
    ),
    "B36-empty": (calling(part("", index=0, id="a", name="f")), [F]),
    "B36-blank": (calling(part(" ", index=0, id="a", name="f")), [F]),
    "B36-absent": (calling(part(index=0, id="a", name="f")), [F]),
    "B36-null": (
        sse(delta("tool_calls", tool_calls=[{"index": 0, "id": "a", "function": {"name": "f", "arguments": None}}])),
        [F],
    ),
    "B36-null-text": (calling(part("null", index=0, id="a", name="f")), [F]),
    "B38-one-id-twice-with-index": (
        calling(part("{}", index=0, id="c", name="f"), part('{"x":1}', index=1, id="c", name="f")),
        [(0, "c", "f", {}), (1, "c", "f", {"x": 1})],
    ),
    "B38-one-id-twice-without-index": (
        calling(part("{}", id="c", name="f"), part('{"x":1}', id="c", name="f")),
        [(0, "c", "f", {}), (1, "c", "f", {"x": 1})],
    ),
    "B59-unknown-fields": (
        sse(
            delta(
                "tool_calls", new={}, tool_calls=[{"index": 0, "id": "a", "function": {"name": "f", "y": 1}, "z": []}]
            )
        ),
        [F],
    ),
    "without-index-ids-tell-interleaved-calls-apart": (
        calling(
            part('{"y"', id="a", name="f"), part("{", id="b", name="g"), part(":2}", id="a"), part('"x":1}', id="b")
        ),
        [(0, "a", "f", {"y": 2}), (1, "b", "g", {"x": 1})],
    ),
    "several-calls-in-one-delta": (
        sse(delta("tool_calls", tool_calls=[part("{}", index=0, id="a", name="f"), part('{"x":1}', id="b", name="g")])),
        [F, G],
    ),
    "interleaved": (
        calling(
            part('{"y"', index=0, id="a", name="f"),
            part("{", index=1, id="b", name="g"),
            part(":2}", index=0),
            part('"x":1}', index=1),
        ),
        [(0, "a", "f", {"y": 2}), (1, "b", "g", {"x": 1})],
    ),
    "a-name-in-pieces": (
        calling(part(index=0, id="a", name="get_"), part("{}", index=0, name="it")),
        [(0, "a", "get_it", {})],
    ),
    "arguments-as-an-object": (calling(part({"x": 1}, index=0, id="a", name="f")), [(0, "a", "f", {"x": 1})]),
    "the-older-function-call": (
        sse(
            delta(function_call={"name": "f", "arguments": ""}),
            delta(function_call={"arguments": "{}"}),
            delta("function_call"),
        ),
        [(0, "", "f", {})],
    ),
    "a-custom-tool": (
        sse(
            delta(tool_calls=[{"index": 0, "id": "a", "type": "custom", "custom": {"name": "f", "input": "{1} "}}]),
            delta("tool_calls", tool_calls=[{"index": 0, "custom": {"input": "{2}"}}]),
        ),
        [(0, "a", "f", {"input": "{1} {2}"})],
    ),
    "half-a-character-per-delta": (
        calling(part('{"x":"HIGH', index=0, id="a", name="f"), part('LOW"}', index=0))
        .replace(b"HIGH", rb"\ud83d")
        .replace(b"LOW", rb"\ude00"),
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
        assert end.complete


WHOLE_ENOUGH = part('{"x":1}', index=0, id="a", name="f")
CUT = part('{"path":"/srv/a","conte', index=0, id="a", name="f")

INCOMPLETE: dict[str, tuple[bytes, int]] = {
    "B37-cut-by-length": (calling(CUT, finish="length"), 0),
    "B37-length-although-the-arguments-parse": (calling(WHOLE_ENOUGH, finish="length"), 1),
    "B37-length-before-any-arguments": (calling(part("", index=0, id="a", name="f"), finish="length"), 0),
    "B55-cut-but-finish-says-tool-calls": (calling(CUT), 0),
    "B55-a-whole-call-and-a-cut-one": (calling(WHOLE_ENOUGH, part('{"a', index=1, id="b", name="g")), 1),
    "B56-no-finish-and-no-done": (calling(WHOLE_ENOUGH, finish=None, done=False), 1),
    "B56-text-only": (sse(delta(content="a"), delta(content="b"), done=False), 0),
    "B56-empty-arguments-in-a-stream-that-just-stops": (
        calling(part("", index=0, id="a", name="f"), finish=None, done=False),
        0,
    ),
    "B45-error-frame": (sse(delta(content="a"), {"error": {"message": "overloaded"}}), 0),
    "B45-error-event": (sse(delta(content="a")) + b"event: error\ndata: {}\n\n", 0),
    "arguments-that-are-no-object": (calling(part("[1]", index=0, id="a", name="f")), 0),
    "something-after-the-object": (calling(WHOLE_ENOUGH, part("x", index=0)), 0),
    "not-a-number": (calling(part('{"x":NaN}', index=0, id="a", name="f")), 0),
    "an-infinite-number": (calling(part('{"x":1e999,"n":12345678901234567890}', index=0, id="a", name="f")), 0),
    "arguments-of-no-tool": (calling(part("{}", index=0, id="a")), 0),
    "nothing-at-all": (b"", 0),
}


@pytest.mark.parametrize(("stream", "calls"), INCOMPLETE.values(), ids=INCOMPLETE.keys())
def test_an_answer_that_is_not_whole_is_never_complete(stream: bytes, calls: int) -> None:
    for chunks in cuts(stream):
        _, end = answered(chunks)
        assert not end.complete
        assert len(end.calls) == calls


def test_b45_a_broken_connection_makes_the_turn_incomplete_unless_done_was_seen() -> None:
    finished = calling(WHOLE_ENOUGH, done=False)
    assert answered([finished])[1].complete
    assert not answered([finished], clean=False)[1].complete
    assert answered([calling(WHOLE_ENOUGH)], clean=False)[1].complete


def test_b45_a_last_event_without_its_blank_line_counts() -> None:
    assert answered([sse(delta(content="a"), delta("stop"))[:-2]])[1].complete


def test_b77_a_call_is_given_when_the_next_one_opens_and_at_the_end() -> None:
    reader = OpenAiChat().reader(content_type="text/event-stream")
    assert reader.feed(sse(delta(tool_calls=[part("", index=0, id="a", name="f")]), done=False)) == []
    opened = reader.feed(sse(delta(tool_calls=[part("", index=1, id="b", name="g")]), done=False))
    assert brief(opened) == [(0, "a", "f", {})]
    assert brief(reader.feed(sse(delta("tool_calls"), done=False))) == [(1, "b", "g", {})]
    assert reader.feed(b"data: [DONE]\n\n") == []


def test_a_balanced_object_is_given_at_once_and_never_twice() -> None:
    reader = OpenAiChat().reader(content_type="text/event-stream")
    text = '{"q":"}{\\"\\\\","o":{"a":[{}]}}'
    pieces = [part(text[:1], index=0, id="a", name="f"), *(part(letter, index=0) for letter in text[1:])]
    given = [reader.feed(sse(delta(tool_calls=[piece]), done=False)) for piece in pieces]
    assert [len(calls) for calls in given] == [0] * (len(text) - 1) + [1]
    assert brief(given[-1]) == [(0, "a", "f", json.loads(text))]
    assert reader.feed(sse(delta(tool_calls=[part(" \n", index=0)]), delta("tool_calls"))) == []
    assert len(reader.close(clean=True).calls) == 1


def test_a_call_given_too_early_is_given_again_with_its_later_arguments() -> None:
    seen, end = answered(
        [calling(part("", index=0, id="a", name="f"), part("", index=1, id="b", name="g"), part('{"x":1}', index=0))]
    )
    assert brief(seen) == [(0, "a", "f", {}), (0, "a", "f", {"x": 1}), (1, "b", "g", {})]
    assert brief(end.calls) == [(0, "a", "f", {"x": 1}), (1, "b", "g", {})]


def test_b08_chunks_without_choices_are_no_error_and_their_usage_is_taken() -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107}
    stream = sse(
        {"choices": []},
        {"id": "x"},
        delta(content="hi"),
        delta("stop"),
        {"choices": [], "usage": usage},
        {"choices": []},
    )
    for chunks in cuts(stream):
        _, end = answered(chunks)
        assert (end.text, end.complete, end.finish) == ("hi", True, "stop")
        assert (end.input_tokens, end.output_tokens) == (100, 7)


def test_b09_b14_text_is_put_together_by_characters_not_by_chunks() -> None:
    stream = sse(
        delta(content="é😀"), delta(content=[{"type": "text", "text": "a\u2028b"}]), delta("stop"), end=b"\r\n\r\n"
    )
    for chunks in cuts(stream):
        assert answered(chunks)[1].text == "é😀a\u2028b"


def test_only_the_first_of_several_choices_is_read_and_nobody_knows_which_is_taken() -> None:
    other = {"index": 1, "delta": {"content": "no", "tool_calls": [part("{}", index=0, id="z", name="z")]}}
    both = {"choices": [other, {"index": 0, "delta": {"content": "yes"}}]}
    seen, end = answered([sse(both, {"choices": [{**other, "finish_reason": "length"}]}, delta("stop"))])
    assert (seen, end.text, end.complete) == ([], "yes", False)


MESSAGE = {
    "role": "assistant",
    "content": "I look.",
    "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
        {"id": "a", "type": "function", "function": {"name": "g", "arguments": '{"x": 1}'}},
    ],
}


def whole(**fields: Any) -> bytes:
    choice = {"index": 0, "message": MESSAGE, "finish_reason": "tool_calls"} | fields
    return json.dumps({"choices": [choice], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}).encode()


def test_b38_an_answer_that_is_not_streamed_gives_its_calls_with_its_last_byte() -> None:
    for chunks in cuts(whole()):
        seen, end = answered(chunks, content_type="application/json; charset=utf-8")
        assert seen == list(end.calls)
        assert brief(end.calls) == [(0, "a", "f", {}), (1, "a", "g", {"x": 1})]
        assert (end.text, end.complete, end.input_tokens, end.output_tokens) == ("I look.", True, 3, 4)


@pytest.mark.parametrize(
    "body",
    [
        whole(finish_reason="length"),
        whole(message=None),
        whole(message={"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": '{"a'}}]}),
        whole()[:-1],
        b'{"error":{"message":"no"}}',
        b"",
        b"<html>",
    ],
    ids=["B37-length", "no-message", "B37-cut-arguments", "cut-body", "error", "empty", "html"],
)
def test_a_json_answer_that_is_not_whole_is_incomplete(body: bytes) -> None:
    assert not answered([body], content_type="application/json")[1].complete


def test_calls_of_a_json_answer_that_is_not_whole_are_never_given() -> None:
    assert answered([whole(finish_reason="length")], content_type="application/json")[0] == []
    assert answered([whole()[:-1]], content_type="application/json")[0] == []


@pytest.mark.parametrize("content_type", ["application/json", "text/event-stream"])
def test_beyond_the_limit_a_reader_goes_deaf(content_type: str) -> None:
    wire = OpenAiChat(max_answer_bytes=1000)
    reader = wire.reader(content_type=content_type)
    body = whole() if "json" in content_type else calling(WHOLE_ENOUGH)
    for _ in range(20):
        reader.feed(b" " * 100 + b"\n\n")
    assert reader.feed(body) == []
    assert not reader.close(clean=True).complete
