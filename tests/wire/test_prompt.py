"""What of a request a small model is told."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.wire.chat_tools import name_of_tool
from paste_proxy.wire.prompt import Prompt, prompt_of
from paste_proxy.wire.types import LlmRequest, Message, SeenOutput

TOOL: dict[str, Any] = {"name": "look", "description": "d", "input_schema": {"type": "object"}}


def said(role: str, text: str) -> Message:
    output = SeenOutput(call_id="c", output=text) if role == "tool" else None
    return Message(role=role, text=text, digest=b"", output=output)


def request(*messages: Message, tools: tuple[Any, ...] = (TOOL,)) -> LlmRequest:
    return LlmRequest(model="m", stream=True, messages=messages, tools=("look",), offered=tools)


def told(asked: LlmRequest, characters: int) -> Prompt:
    prompt = prompt_of(asked, characters)
    assert prompt is not None
    return prompt


def test_a_short_request_is_told_whole() -> None:
    messages = (said("system", "be brief"), said("user", "look"), said("tool", "found"))
    prompt = told(request(*messages), 4_000)
    assert prompt.messages == messages
    assert [name_of_tool(tool) for tool in prompt.tools] == ["look"]


def test_of_a_long_one_the_opening_and_the_latest_messages_are() -> None:
    middle = [said("assistant", f"{number} " + "word " * 50) for number in range(100)]
    prompt = told(request(said("system", "be brief"), said("user", "the task"), *middle), 4_000)
    texts = [message.text for message in prompt.messages]
    assert texts[:2] == ["be brief", "the task"]
    assert texts[2:] == [message.text for message in middle[-len(texts) + 2 :]]
    assert 2_500 < prompt.characters <= 4_000


def test_a_long_text_keeps_its_beginning_and_its_end() -> None:
    prompt = told(request(said("user", "u"), said("tool", "begin" + "x" * 50_000 + "end")), 4_000)
    text = prompt.messages[-1].text
    assert text.startswith("beginx")
    assert text.endswith("xend")
    assert "characters left out" in text
    assert prompt.messages[-1].output == SeenOutput(call_id="c", output=text)


def test_tools_described_at_length_are_told_in_short_and_beyond_that_nothing_is_told() -> None:
    wordy = {**TOOL, "description": "word " * 1_000}
    assert len(str(told(request(said("user", "u"), tools=(wordy,)), 4_000).tools)) < 400
    assert (
        prompt_of(request(said("user", "u"), tools=tuple({**wordy, "name": f"t{n}"} for n in range(50))), 4_000) is None
    )


@pytest.mark.parametrize("change", [{"utility": True}, {"previous": "resp_1"}, {"offered": ()}, {"messages": ()}])
def test_a_request_that_is_no_turn_to_guess_is_not_told(change: dict[str, Any]) -> None:
    assert prompt_of(replace(request(said("user", "u")), **change), 4_000) is None


@given(
    st.lists(st.tuples(st.sampled_from(["system", "user", "assistant", "tool"]), st.integers(0, 3_000)), max_size=30),
    st.integers(2_000, 20_000),
)
def test_the_latest_message_is_always_told_and_the_rest_within_the_bound(
    messages: list[tuple[str, int]], characters: int
) -> None:
    history = [said(role, "x" * length) for role, length in messages]
    prompt = prompt_of(request(*history), characters)
    if prompt is None:
        assert not history
        return
    assert prompt.messages[-1].role == history[-1].role
    opening = next((at for at, one in enumerate(history) if one.role != "system"), len(history)) + 1
    longest = characters // 4 + 60
    assert prompt.characters <= max(characters, 200 + (opening + 1) * longest)
