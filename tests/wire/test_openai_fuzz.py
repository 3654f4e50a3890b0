"""Whatever a peer sends, reading raises nothing."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.wire.openai_chat import OpenAiChat
from tests.wire.streams import answered
from tests.wire.test_jsonspans import JSON, SCALARS

WORDS = """choices delta message tool_calls function_call function custom index id name arguments input content text
type finish_reason usage prompt_tokens error messages tools functions metadata session_id model stream role"""
NAMES = st.sampled_from(WORDS.split())
VALUES = st.sampled_from(
    ["tool", "assistant", "user", "function", "text", "length", "stop", "{}", '{"a":', "\ud83d", 0, 1]
)
SHAPED: st.SearchStrategy[Any] = st.recursive(
    SCALARS | VALUES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=25,
)
PART = st.fixed_dictionaries({}, optional={"index": SHAPED, "id": SHAPED, "function": SHAPED, "custom": SHAPED})
DELTA = st.fixed_dictionaries({}, optional={"content": SHAPED, "tool_calls": st.lists(PART, max_size=3) | SHAPED})
CHOICE = st.fixed_dictionaries({"delta": DELTA}, optional={"finish_reason": SHAPED, "message": SHAPED, "index": SHAPED})
CHUNK = st.fixed_dictionaries({"choices": st.lists(CHOICE, max_size=2)}) | SHAPED | JSON


def read_everything(body: bytes) -> None:
    OpenAiChat().read_request(body, target="/v1/chat/completions")
    answered([body], content_type="application/json")
    answered([body], content_type="text/plain")


@given(SHAPED | JSON)
def test_any_json_reads(value: Any) -> None:
    for odd in (
        value,
        {"messages": value},
        {"messages": [value]},
        {"messages": [{"role": "assistant", "tool_calls": value}]},
    ):
        read_everything(json.dumps(odd).encode())


@given(st.binary())
def test_any_bytes_read(body: bytes) -> None:
    read_everything(body)
    answered([b"data: " + body + b"\n\n"])


@given(st.lists(CHUNK, max_size=6), st.booleans())
def test_any_chunks_read_and_what_stands_at_the_end_was_given_before(chunks: list[Any], clean: bool) -> None:
    stream = b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks)
    seen, end = answered([stream], clean=clean)
    assert all(call in seen for call in end.calls)
    assert end.text.encode().decode() == end.text
    assert [call.order for call in end.calls] == sorted({call.order for call in end.calls})


def test_depth_costs_no_fault() -> None:
    deep = b'{"a":' * 3000 + b"1" + b"}" * 3000
    big = deep.replace(b"1", b"12345678901234567890")
    for nested in (deep, big):
        read_everything(b'{"messages":[{"role":"user","content":[' + nested + b"]}]}")
        text = json.dumps(nested.decode()).encode()
        answered(
            [b'data: {"choices":[{"delta":{"tool_calls":[{"function":{"name":"f","arguments":' + text + b"}}]}}]}\n\n"]
        )
