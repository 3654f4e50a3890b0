"""Answers of the Gemini API: events, a JSON array in pieces, or one object."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.wire.gemini import Gemini
from paste_proxy.wire.types import SeenCall, TurnEnd
from tests.wire.gemini_streams import USAGE, array, at, call, dumped, piece, response, said, sse
from tests.wire.reading import JSON, SSE, answered_by
from tests.wire.streams import cuts

Calls = list[tuple[int, str, Any]]


def answered(chunks: list[bytes], *, clean: bool = True, content_type: str = SSE) -> tuple[list[SeenCall], TurnEnd]:
    return answered_by(Gemini(), chunks, clean=clean, content_type=content_type)


def brief(calls: Any) -> Calls:
    return [(call.order, call.name, call.arguments) for call in calls]


STREAMED = [
    piece(name="f"),
    piece(at("$.q", stringValue="New ", willContinue=True)),
    piece(at("$.q", stringValue="Delhi")),
    piece(at("$.deep.list[0]", numberValue=1), at("$['deep'].list[1]['a b']", boolValue=True)),
    piece(at('$["n\\"n"]', nullValue="NULL_VALUE")),
]
STREAMED_CALL: Calls = [(0, "f", {"q": "New Delhi", "deep": {"list": [1, {"a b": True}]}, 'n"n': None})]

ASSEMBLED: dict[str, tuple[list[dict[str, Any]], Calls]] = {
    "one": ([response(call("f", {"x": 1}), finish="STOP")], [(0, "f", {"x": 1})]),
    "B22-only-the-first-of-two-is-signed": (
        [response(call("f", {"x": 1}, signature="c2ln"), call("g", {"y": "}{\\"}), finish="STOP")],
        [(0, "f", {"x": 1}), (1, "g", {"y": "}{\\"})],
    ),
    "after-text-in-later-chunks": (
        [response(said("I ")), response(said("look.")), response(call("f", {})), response(said(""), finish="STOP")],
        [(0, "f", {})],
    ),
    "B36-no-args": ([response(call("f"), finish="STOP")], [(0, "f", {})]),
    "B36-null": ([response({"functionCall": {"name": "f", "args": None}}, finish="STOP")], [(0, "f", {})]),
    "B38-one-id-twice": (
        [response(call("f", {}, id="c"), call("f", {"x": 1}, id="c"), finish="STOP")],
        [(0, "f", {}), (1, "f", {"x": 1})],
    ),
    "B59-unknown-fields-and-parts": (
        [response({"hologram": {}}, {**call("f", {}, new=1), "new": []}, new={}), response(finish="STOP")],
        [(0, "f", {})],
    ),
    "a-reason-in-every-chunk": (
        [response(said("a"), finish="STOP"), response(call("f", {}), finish="STOP")],
        [(0, "f", {})],
    ),
    "the-spelling-of-protos": (
        [response({"function_call": {"name": "f", "args": {"x": 1}}}), response(finish="STOP")],
        [(0, "f", {"x": 1})],
    ),
    "code-assist-wraps-each": (
        [{"response": response(call("f", {"x": 1})), "traceId": "t"}, {"response": response(finish="STOP")}],
        [(0, "f", {"x": 1})],
    ),
    "what-the-vendor-runs-is-no-call": (
        [
            response(
                {"executableCode": {"language": "PYTHON", "code": "1"}},
                {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
                {"toolCall": {"toolType": "GOOGLE_SEARCH", "args": {}}},
                call("f", {}),
                finish="STOP",
            )
        ],
        [(0, "f", {})],
    ),
    "streamed-arguments-with-an-end-of-their-own": (
        [*map(response, STREAMED), response(piece(more=False)), response(finish="STOP")],
        STREAMED_CALL,
    ),
    "streamed-arguments-whose-last-piece-is-the-end": (
        [
            *map(response, STREAMED[:-1]),
            response(piece(*STREAMED[-1]["functionCall"]["partialArgs"], more=False), finish="STOP"),
        ],
        STREAMED_CALL,
    ),
    "streamed-arguments-ended-by-the-turn": ([*map(response, STREAMED), response(finish="STOP")], STREAMED_CALL),
    "streamed-arguments-ended-by-the-next-call": (
        [*map(response, STREAMED), response(call("g", {})), response(finish="STOP")],
        [*STREAMED_CALL, (1, "g", {})],
    ),
    "streamed-arguments-whose-every-piece-has-the-name": (
        [
            response(piece(name="f", id="c"), piece(at("$.x", stringValue="a"), name="f", id="c")),
            response(piece(at("$.x", stringValue="b"), more=False, name="f", id="c"), finish="STOP"),
        ],
        [(0, "f", {"x": "ab"})],
    ),
    "two-streamed-calls-of-one-tool": (
        [
            response(piece(name="f"), piece(at("$.x", numberValue=1), more=False)),
            response(piece(name="f"), piece(at("$.x", numberValue=2)), piece(more=False), finish="STOP"),
        ],
        [(0, "f", {"x": 1}), (1, "f", {"x": 2})],
    ),
}
FORMS = {"events": (sse, SSE), "array": (array, JSON)}


@pytest.mark.parametrize(("writing", "content_type"), FORMS.values(), ids=FORMS.keys())
@pytest.mark.parametrize(("responses", "calls"), ASSEMBLED.values(), ids=ASSEMBLED.keys())
def test_calls_are_given_once_wherever_the_body_is_cut(
    responses: list[dict[str, Any]], calls: Calls, writing: Any, content_type: str
) -> None:
    for chunks in cuts(writing(*responses)):
        seen, end = answered(chunks, content_type=content_type)
        assert brief(seen) == brief(end.calls) == calls
        assert (end.complete, end.finish) == (True, "STOP")
        assert len({call.call_id for call in seen if call.call_id != "c"}) in (len(seen), 0)


@pytest.mark.parametrize("end", [b"\r\n\r\n", b"\r\r", b"\n\r\n"], ids=["crlf", "cr", "mixed"])
def test_b10_b11_every_line_end_and_no_space_are_read(end: bytes) -> None:
    stream = sse(*ASSEMBLED["one"][0], end=end)
    for body in (stream, stream.replace(b"data: ", b"data:")):
        for chunks in cuts(body):
            assert brief(answered(chunks)[1].calls) == ASSEMBLED["one"][1]


INCOMPLETE: dict[str, tuple[list[dict[str, Any]], int]] = {
    "B37-cut-by-length": ([response(call("f", {"x": 1}), finish="MAX_TOKENS")], 1),
    "B37-streamed-arguments-cut-by-length": ([*map(response, STREAMED), response(finish="MAX_TOKENS")], 0),
    "safety": ([response(said("a")), response(finish="SAFETY")], 0),
    "malformed": ([response(finish="MALFORMED_FUNCTION_CALL")], 0),
    "too-many-calls": ([response(call("f", {}), finish="TOO_MANY_TOOL_CALLS")], 1),
    "a-reason-that-comes-to-be": ([response(said("a"), finish="TIRED")], 0),
    "B56-no-reason": ([response(said("a")), response(call("f", {}))], 1),
    "B56-reason-not-specified": ([response(said("a"), finish="FINISH_REASON_UNSPECIFIED")], 0),
    "B45-an-error-after-content": ([response(call("f", {}), finish="STOP"), {"error": {"code": 503}}], 1),
    "B55-arguments-that-are-no-object": ([response(call("f", [1]), finish="STOP")], 0),
    "B55-arguments-cut-in-a-text": ([response(call("f", '{"a'), finish="STOP")], 0),
    "a-piece-without-a-place": ([response(piece(at("$.a[3]", numberValue=1), more=False, name="f"), finish="STOP")], 0),
    "a-path-to-many-places": ([response(piece(at("$..a", numberValue=1), more=False, name="f"), finish="STOP")], 0),
    "a-piece-of-no-call": ([response(piece(at("$.a", numberValue=1), more=False), finish="STOP")], 0),
    "no-candidates": ([{"usageMetadata": USAGE}], 0),
}


@pytest.mark.parametrize(("writing", "content_type"), FORMS.values(), ids=FORMS.keys())
@pytest.mark.parametrize(("responses", "calls"), INCOMPLETE.values(), ids=INCOMPLETE.keys())
def test_an_answer_that_is_not_whole_is_never_complete(
    responses: list[dict[str, Any]], calls: int, writing: Any, content_type: str
) -> None:
    for chunks in cuts(writing(*responses)):
        seen, end = answered(chunks, content_type=content_type)
        assert not end.complete
        assert len(end.calls) == len(seen) == calls


def test_b45_only_a_body_that_came_to_its_end_is_complete() -> None:
    stream = sse(response(said("a"), finish="STOP"))
    assert answered([stream])[1].complete
    assert answered([stream[:-2]])[1].complete
    assert not answered([stream], clean=False)[1].complete
    assert not answered([sse(response(said("a"))), b"data: {oops\n\n", stream])[1].complete
    assert answered([stream, b"data: [DONE]\n\n"])[1].complete


def test_a_blocked_prompt_is_no_turn() -> None:
    _, end = answered([sse({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": USAGE})])
    assert (end.complete, end.finish, end.calls) == (False, "PROHIBITED_CONTENT", ())


def test_calls_are_given_with_their_part() -> None:
    for writing, content_type in FORMS.values():
        reader = Gemini().reader(content_type=content_type)
        body = writing(response(call("f", {"x": 1})), response(said("and"), finish="STOP"))
        early = body.index(b'"and"')
        assert brief(reader.feed(body[:early])) == [(0, "f", {"x": 1})]
        assert reader.feed(body[early:]) == []


def test_streamed_arguments_are_given_at_their_end() -> None:
    reader = Gemini().reader(content_type=SSE)
    assert reader.feed(sse(*map(response, STREAMED))) == []
    assert brief(reader.feed(sse(response(piece(more=False))))) == STREAMED_CALL


def test_b09_b14_text_is_put_together_by_characters_and_thoughts_are_none_of_it() -> None:
    parts = [said("I wonder", thought=True), said("é😀"), said("a\u2028b"), said("", thoughtSignature="c2ln")]
    for writing, content_type in FORMS.values():
        for chunks in cuts(writing(*map(response, parts), response(finish="STOP"))):
            end = answered(chunks, content_type=content_type)[1]
            assert (end.text, end.complete) == ("é😀a\u2028b", True)


def test_only_the_first_of_several_candidates_is_read_and_nobody_knows_which_is_taken() -> None:
    other = {"index": 1, "content": {"parts": [call("g", {})]}, "finishReason": "MAX_TOKENS"}
    both = response(said("yes"), finish="STOP")
    seen, end = answered([sse({**both, "candidates": [other, *both["candidates"]]})])
    assert (seen, end.text, end.complete) == ([], "yes", False)


def test_tokens_written_are_the_answers_and_the_thoughts() -> None:
    usage = {**USAGE, "thoughtsTokenCount": 32}
    end = answered([sse(response(said("a")), response(finish="STOP", usageMetadata=usage))])[1]
    assert (end.input_tokens, end.output_tokens, end.response_id) == (100, 42, "r1")
    wrapped = answered([sse({"response": {"candidates": []}, "traceId": "t1"})])[1]
    assert (wrapped.input_tokens, wrapped.output_tokens, wrapped.response_id) == (None, None, "t1")


def test_an_answer_that_is_not_streamed_gives_its_calls_when_it_is_whole() -> None:
    body = json.dumps(response(said("I look."), call("f", {"x": 1}), finish="STOP"), indent=2).encode()
    for chunks in cuts(body):
        seen, end = answered(chunks, content_type=JSON)
        assert brief(seen) == brief(end.calls) == [(0, "f", {"x": 1})]
        assert (end.text, end.complete) == ("I look.", True)
    assert not answered([body[:-1]], content_type=JSON)[1].complete
    assert not answered([b'{"error": {"code": 429}}'], content_type=JSON)[1].complete


@pytest.mark.parametrize("content_type", [JSON, SSE])
def test_beyond_the_limit_a_reader_goes_deaf(content_type: str) -> None:
    reader = Gemini(max_answer_bytes=1000).reader(content_type=content_type)
    for _ in range(20):
        reader.feed(b" " * 100 + b"\n\n")
    body = response(call("f", {}), finish="STOP")
    assert reader.feed(dumped(body) if content_type == JSON else sse(body)) == []
    assert not reader.close(clean=True).complete


@given(st.lists(st.integers(0, 4000), max_size=30), st.sampled_from(list(ASSEMBLED)), st.sampled_from(list(FORMS)))
def test_any_cutting_gives_the_same(places: list[int], name: str, form: str) -> None:
    writing, content_type = FORMS[form]
    body = writing(*ASSEMBLED[name][0])
    edges = [0, *sorted(place % (len(body) + 1) for place in places), len(body)]
    cut = answered([body[a:b] for a, b in pairwise(edges)], content_type=content_type)
    assert cut == answered([body], content_type=content_type)
