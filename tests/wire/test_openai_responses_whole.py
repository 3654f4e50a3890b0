"""Responses answers that are one JSON object."""

import json
from typing import Any

import pytest

from paste_proxy.wire.openai_responses import OpenAiResponses
from tests.wire.reading import JSON, SSE, answered_by
from tests.wire.response_events import call, called, ended, message, stream
from tests.wire.streams import brief, cuts

WIRE = OpenAiResponses()
F = (0, "a", "f", {"x": 1})
REASONING = {"type": "reasoning", "id": "rs_1", "summary": []}


def whole(**fields: Any) -> bytes:
    output = [REASONING, message("I look."), call("f", "a", '{"x":1}'), call("g", "a", "")]
    usage = {"input_tokens": 3, "output_tokens": 4}
    answer = {"id": "resp_1", "status": "completed", "output": output, "usage": usage, "error": None}
    return json.dumps(answer | fields).encode()


def test_b38_an_answer_that_is_not_streamed_gives_its_calls_with_its_last_byte() -> None:
    for chunks in cuts(whole()):
        seen, end = answered_by(WIRE, chunks, content_type=JSON)
        assert brief(seen) == brief(end.calls) == [F, (1, "a", "g", {})]
        assert (end.text, end.complete, end.response_id) == ("I look.", True, "resp_1")
        assert (end.input_tokens, end.output_tokens, end.finish) == (3, 4, "completed")


@pytest.mark.parametrize(
    "body",
    [
        whole(status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
        whole(status="queued", output=[]),
        whole(status="failed", error={"message": "no"}),
        whole(output=None),
        whole(output=[call("f", "a", '{"a')]),
        whole()[:-1],
        b'{"error":{"message":"no"}}',
        b"",
        b"<html>",
    ],
    ids=["B37-length", "background", "failed", "no-output", "B37-cut-arguments", "cut-body", "error", "empty", "html"],
)
def test_a_json_answer_that_is_not_whole_is_incomplete_and_gives_nothing(body: bytes) -> None:
    seen, end = answered_by(WIRE, [body], content_type=JSON)
    assert seen == []
    assert not end.complete


def test_b45_a_json_answer_whose_connection_broke_is_incomplete() -> None:
    assert not answered_by(WIRE, [whole()], clean=False, content_type=JSON)[1].complete


def test_a_background_answer_is_known_by_its_id_although_it_is_no_turn_yet() -> None:
    end = answered_by(WIRE, [whole(status="queued", output=[])], content_type=JSON)[1]
    assert (end.response_id, end.complete, end.finish) == ("resp_1", False, None)


@pytest.mark.parametrize("content_type", [JSON, SSE])
def test_beyond_the_limit_a_reader_goes_deaf(content_type: str) -> None:
    reader = OpenAiResponses(max_answer_bytes=1000).reader(content_type=content_type)
    body = whole() if content_type == JSON else stream(*called("f", "a", "{}"), ended())
    for _ in range(20):
        reader.feed(b" " * 100 + b"\n\n")
    assert reader.feed(body) == []
    assert not reader.close(clean=True).complete
