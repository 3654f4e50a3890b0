"""What holds of streamed answers on every wire."""

from collections.abc import Callable

import pytest

from paste_proxy.wire.anthropic_messages import AnthropicMessages
from paste_proxy.wire.gemini import Gemini
from paste_proxy.wire.openai_chat import OpenAiChat
from paste_proxy.wire.openai_responses import OpenAiResponses
from paste_proxy.wire.tagged_text import TaggedText
from paste_proxy.wire.types import Wire
from tests.field_cases.samples import SAMPLES
from tests.wire.reading import SSE, answered_by

LIMITED: dict[str, Callable[..., Wire]] = {
    "openai_chat": OpenAiChat,
    "openai_responses": OpenAiResponses,
    "tagged_text": TaggedText,
    "anthropic_messages": AnthropicMessages,
    "gemini": Gemini,
}


@pytest.mark.parametrize("name", list(LIMITED))
def test_a_last_event_beyond_the_limit_is_not_read_and_the_turn_incomplete(name: str) -> None:
    stream = SAMPLES[name].stream()
    whole = answered_by(LIMITED[name](max_answer_bytes=len(stream)), [stream[:-1], stream[-1:]])
    cut = LIMITED[name](max_answer_bytes=len(stream) - 1)
    assert whole[1].complete
    assert answered_by(cut, [stream])[0] == []
    assert not answered_by(cut, [stream])[1].complete


@pytest.mark.parametrize("name", ["openai_chat", "tagged_text", "anthropic_messages", "gemini"])
def test_what_follows_a_whole_answer_beyond_the_limit_makes_it_incomplete(name: str) -> None:
    stream = SAMPLES[name].stream()
    reader = LIMITED[name](max_answer_bytes=len(stream)).reader(content_type=SSE)
    assert reader.feed(stream)
    assert reader.feed(b":") == []
    assert not reader.close(clean=True).complete


def test_a_response_that_said_that_it_is_completed_stays_so() -> None:
    stream = SAMPLES["openai_responses"].stream()
    reader = OpenAiResponses(max_answer_bytes=len(stream)).reader(content_type=SSE)
    reader.feed(stream)
    reader.feed(b":")
    assert reader.close(clean=True).complete
