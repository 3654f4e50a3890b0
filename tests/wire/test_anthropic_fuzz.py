"""Whatever a peer of the Messages API sends, reading raises nothing."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.wire.anthropic_messages import AnthropicMessages
from tests.wire.reading import JSON, answered_by
from tests.wire.test_jsonspans import JSON as ANY_JSON
from tests.wire.test_jsonspans import SCALARS

WIRE = AnthropicMessages()
WORDS = """type index message content_block delta text partial_json input id name content stop_reason usage input_tokens
error messages system tools metadata user_id role tool_use_id is_error output_config format"""
KINDS = """message_start content_block_start content_block_delta content_block_stop message_delta message_stop error
ping text text_delta input_json_delta tool_use tool_result thinking user assistant"""
NAMES = st.sampled_from(WORDS.split())
VALUES = st.sampled_from([*KINDS.split(), "end_turn", "max_tokens", "{}", '{"a":', "\ud83d", 0, 1])
SHAPED: st.SearchStrategy[Any] = st.recursive(
    SCALARS | VALUES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=25,
)
EVENT = st.fixed_dictionaries(
    {"type": st.sampled_from(KINDS.split()[:8])},
    optional={"index": st.integers(0, 2) | SHAPED, "content_block": SHAPED, "delta": SHAPED, "message": SHAPED},
)


@given(SHAPED | ANY_JSON)
def test_any_json_reads(value: Any) -> None:
    for odd in (value, {"messages": value}, {"messages": [value], "system": value, "tools": value}):
        body = json.dumps(odd).encode()
        WIRE.read_request(body, target="/v1/messages")
        answered_by(WIRE, [body], content_type=JSON)
    for role in ("user", "assistant"):
        WIRE.read_request(
            json.dumps({"messages": [{"role": role, "content": value}, {"role": role, "content": [value]}]}).encode(),
            target="/v1/messages",
        )


@given(st.binary())
def test_any_bytes_read(body: bytes) -> None:
    WIRE.read_request(body, target="/v1/messages")
    answered_by(WIRE, [body], content_type=JSON)
    answered_by(WIRE, [body, b"\n\ndata: " + body + b"\n\n"])


@given(st.lists(EVENT | SHAPED, max_size=8), st.booleans())
def test_any_events_read_and_what_stands_at_the_end_was_given_before(events: list[Any], clean: bool) -> None:
    stream = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)
    seen, end = answered_by(WIRE, [stream], clean=clean)
    assert all(call in seen for call in end.calls)
    assert end.text.encode().decode() == end.text
    assert [call.order for call in end.calls] == sorted({call.order for call in end.calls})


def test_depth_costs_no_fault() -> None:
    deep = b'{"a":' * 3000 + b"1" + b"}" * 3000
    for nested in (deep, deep.replace(b"1", b"12345678901234567890")):
        block = b'{"type":"tool_use","id":"a","name":"f","input":' + nested + b"}"
        WIRE.read_request(b'{"messages":[{"role":"assistant","content":[' + block + b"]}]}", target="/v1/messages")
        answered_by(WIRE, [b'{"content":[' + block + b"]}"], content_type=JSON)
        begun = b'data: {"type":"content_block_start","index":0,"content_block":' + block + b"}\n\n"
        answered_by(WIRE, [begun + b'data: {"type":"message_stop"}\n\n'])
