"""Any wire's history as Chat Completions messages: what it says stays, and strict chat templates take it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.events.values import Json, dumps
from paste_proxy.wire.chat_request import chat_messages
from paste_proxy.wire.protocols import WIRES
from paste_proxy.wire.types import Message, SeenCall, SeenOutput
from tests.field_cases.samples import SAMPLES
from tests.wire.reading import recorded, request_of

IDS = st.sampled_from(["a", "b", ""])
TEXTS = st.text(max_size=8)
CALLS = st.builds(
    SeenCall,
    order=st.just(0),
    call_id=IDS,
    name=st.sampled_from(["look", "hide"]),
    arguments=st.dictionaries(TEXTS, st.integers() | TEXTS, max_size=2),
)
MESSAGES = st.one_of(
    st.builds(
        Message, role=st.sampled_from(["user", "system", "developer", "reasoning"]), text=TEXTS, digest=st.just(b"")
    ),
    st.builds(
        Message,
        role=st.just("assistant"),
        text=TEXTS,
        digest=st.just(b""),
        calls=st.lists(CALLS, max_size=3).map(tuple),
    ),
    st.builds(
        Message,
        role=st.just("tool"),
        text=TEXTS,
        digest=st.just(b""),
        output=st.builds(SeenOutput, call_id=IDS, output=TEXTS),
    ),
)


def check(messages: list[Json]) -> None:
    """What the strictest chat templates demand."""
    waiting: list[str] = []
    last = ""
    for at, message in enumerate(messages):
        assert isinstance(message, dict)
        role = message["role"]
        assert role in {"system", "user", "assistant", "tool"}
        assert role != "system" or at == 0
        assert not (role == last == "user")
        if role == "tool":
            waiting.remove(str(message["tool_call_id"]))
        else:
            assert not waiting
            calls = message.get("tool_calls", [])
            assert isinstance(calls, list)
            waiting += [str(call["id"]) for call in calls if isinstance(call, dict)]
        assert message.get("content") or message.get("tool_calls") or role == "tool"
        last = str(role)
    assert not waiting
    dumps(messages).decode()


@given(st.lists(MESSAGES, max_size=12))
def test_any_history_becomes_one_that_strict_templates_take(history: list[Message]) -> None:
    check(chat_messages(history))
    shown = chat_messages(history, lambda call: call.name != "hide")
    check(shown)
    assert "hide" not in {call["function"]["name"] for one in cast(shown) for call in one.get("tool_calls", [])}


def cast(messages: list[Json]) -> list[dict[str, Any]]:
    return [message for message in messages if isinstance(message, dict)]


@pytest.mark.parametrize("wire", list(WIRES))
def test_every_wires_turn_is_told_alike(wire: str) -> None:
    request = request_of(WIRES[wire], SAMPLES[wire].request, SAMPLES[wire].target)
    messages = cast(chat_messages(request.messages))
    check(list(messages))
    instructions, user, turn, result, *_ = messages
    assert (instructions["role"], user) == ("system", {"role": "user", "content": "look é😀"})
    assert turn["tool_calls"][0]["function"]["name"] == "look"
    assert json.loads(turn["tool_calls"][0]["function"]["arguments"])["q"]
    assert result == {"role": "tool", "tool_call_id": "call_1", "content": "found"}


def test_a_result_follows_its_call_also_where_ids_are_used_again() -> None:
    def asks(q: str) -> Message:
        call = SeenCall(order=0, call_id="same", name="look", arguments={"q": q})
        return Message(role="assistant", text="", digest=b"", calls=(call,))

    def found(text: str) -> Message:
        return Message(role="tool", text=text, digest=b"", output=SeenOutput(call_id="same", output=text))

    messages = cast(chat_messages([found("lost"), asks("1"), found("one"), asks("2"), asks("3"), found("three")]))
    assert [(one["role"], one["content"]) for one in messages] == [
        ("assistant", None),
        ("tool", "one"),
        ("assistant", None),
        ("tool", "(no result)"),
        ("assistant", None),
        ("tool", "three"),
    ]


def test_instructions_that_come_late_are_said_by_the_user() -> None:
    def said(role: str, text: str) -> Message:
        return Message(role=role, text=text, digest=b"")

    history = [said("system", "a"), said("developer", "b"), said("user", "c"), said("system", "d")]
    assert chat_messages(history) == [{"role": "system", "content": "a\n\nb"}, {"role": "user", "content": "c\n\nd"}]


@pytest.mark.parametrize(
    ("wire", "folder"),
    [
        ("openai_chat", "qwen-code/q1"),
        ("openai_responses", "codex/x1"),
        ("anthropic_messages", "claude-code/a1"),
        ("gemini", "gemini-cli/gemC2"),
    ],
)
def test_recorded_sessions_of_real_clients_are_told_in_full(corpus: Any, wire: str, folder: str) -> None:
    calls = 0
    for target, body, _, _ in recorded(corpus / "fixtures" / folder):
        request = WIRES[wire].read_request(json.dumps(body).encode(), target=target)
        if request is None or request.utility:
            continue
        messages = chat_messages(request.messages)
        check(messages)
        told = sum(len(one.get("tool_calls", [])) for one in cast(messages))
        assert told == sum(len(message.calls) for message in request.messages)
        calls += told
    assert calls
