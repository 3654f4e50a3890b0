"""Answers that are one JSON object: which calls are given of one that was cut."""

import json
from copy import deepcopy

from paste_proxy.wire.anthropic_messages import AnthropicMessages
from paste_proxy.wire.openai_chat import OpenAiChat
from tests.field_cases.samples import SAMPLES
from tests.wire.reading import JSON, answered_by


def test_a_cut_chat_answer_gives_no_calls() -> None:
    answer = deepcopy(SAMPLES["openai_chat"].whole)
    assert answered_by(OpenAiChat(), [json.dumps(answer).encode()], content_type=JSON)[0]
    answer["choices"][0]["finish_reason"] = "length"
    calls, end = answered_by(OpenAiChat(), [json.dumps(answer).encode()], content_type=JSON)
    assert (calls, end.complete) == ([], False)


def test_a_cut_message_gives_its_calls_since_each_ends_with_its_block() -> None:
    answer = {**SAMPLES["anthropic_messages"].whole, "stop_reason": "max_tokens"}
    calls, end = answered_by(AnthropicMessages(), [json.dumps(answer).encode()], content_type=JSON)
    assert calls
    assert (tuple(calls), end.complete) == (end.calls, False)
