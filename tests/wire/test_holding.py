"""What a client is shown before there is an answer, as its own reader of the stream takes it."""

import orjson
import pytest

from paste_proxy.wire.holding import keep_alive, refused_in_stream
from paste_proxy.wire.protocols import WIRES
from paste_proxy.wire.sse import SseDecoder

ERROR = b'{"error": {"message": "too long", "type": "invalid_request_error", "code": "context_length"}}'
ANTHROPIC = b'{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}'


@pytest.mark.parametrize("wire", [name for name in WIRES if name != "gemini"])
def test_signs_of_life_change_nothing_of_what_is_read(wire: str) -> None:
    beat = keep_alive(wire)
    assert beat is not None
    reader = WIRES[wire].reader(content_type="text/event-stream")
    assert reader.feed(beat * 3) == []
    assert reader.under_way() == []
    events = SseDecoder(1_000).feed(beat)
    assert [event.event for event in events] in ([], ["ping"])


def test_gemini_has_none() -> None:
    assert keep_alive("gemini") is None


@pytest.mark.parametrize("wire", ["openai_chat", "tagged_text", "gemini"])
@pytest.mark.parametrize("body", [ERROR, b"<html>no", b"", b"[1]", b'{"detail": "x"}', b"\xff\xfe"])
def test_an_error_stands_where_a_piece_of_the_answer_would(wire: str, body: bytes) -> None:
    (event,) = SseDecoder(10_000).feed(refused_in_stream(wire, 503, body))
    assert event.event == "message"
    told = orjson.loads(event.data)
    assert isinstance(told["error"]["message"], str)
    assert told["error"]["message"]
    if body == ERROR:
        assert told == orjson.loads(ERROR)


def test_anthropics_own_error_is_told_as_it_is() -> None:
    (event,) = SseDecoder(10_000).feed(refused_in_stream("anthropic_messages", 529, ANTHROPIC))
    assert (event.event, orjson.loads(event.data)) == ("error", orjson.loads(ANTHROPIC))
    (event,) = SseDecoder(10_000).feed(refused_in_stream("anthropic_messages", 502, ERROR))
    assert orjson.loads(event.data) == {"type": "error", "error": {"type": "api_error", "message": "too long"}}


def test_responses_have_an_error_event() -> None:
    (event,) = SseDecoder(10_000).feed(refused_in_stream("openai_responses", 400, ERROR))
    told = orjson.loads(event.data)
    assert event.event == told["type"] == "error"
    assert (told["code"], told["message"]) == ("context_length", "too long")
