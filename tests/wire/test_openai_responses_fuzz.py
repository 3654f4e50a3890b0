"""Recorded Codex sessions read to what really happened; whatever a peer sends, reading raises nothing."""

import json
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.wire.openai_responses import OpenAiResponses
from tests.wire.reading import JSON, SSE, answered_by, recorded, session_of
from tests.wire.response_events import call
from tests.wire.streams import brief, cuts
from tests.wire.test_jsonspans import JSON as ANY_JSON
from tests.wire.test_jsonspans import SCALARS
from tests.wire.test_recorded_exchanges import mutated

WIRE = OpenAiResponses()
TARGET = "/v1/responses"

CALLS: dict[str, list[list[tuple[str, str, dict[str, Any]]]]] = {
    "px": [
        [(f"call_1_{n}", "mcp__labhttp__slow_read", {"key": key}) for n, key in enumerate("ab")],
        [(f"call_2_{n}", "mcp__labhttp__slow_write", {"key": key}) for n, key in enumerate("cd")],
        [],
    ],
    "x1": [
        [
            ("call_1_0", "exec_command", {"cmd": "cat hello.txt"}),
            ("call_1_1", "exec_command", {"cmd": "sleep 1; echo two"}),
        ],
        [("call_2_0", "mcp__labhttp__lookup", {"key": "x4"}), ("call_2_1", "mcp__labhttp__write_note", {"text": "x4"})],
        [],
    ],
}


@pytest.mark.parametrize("run", CALLS)
def test_a_codex_session_reads_to_its_calls(corpus: Path, run: str) -> None:
    session = session_of(WIRE, corpus / "fixtures/codex" / run)
    assert [[(c.call_id, c.name, c.arguments) for c in end.calls] for _, end in session] == CALLS[run]
    assert [(end.complete, end.finish) for _, end in session] == [(True, "completed")] * 3
    assert [(end.input_tokens, end.response_id) for _, end in session] == [(100, f"resp_{n}") for n in (1, 2, 3)]
    assert all(request.stream and "mcp__labhttp__lookup" in request.tools for request, _ in session)
    assert len({request.session_hint for request, _ in session}) == 1


@pytest.mark.parametrize("run", CALLS)
def test_each_turn_of_a_codex_session_is_known_again_in_the_next_request(corpus: Path, run: str) -> None:
    session = session_of(WIRE, corpus / "fixtures/codex" / run)
    for (earlier, end), (later, _) in pairwise(session):
        digests = [message.digest for message in later.messages]
        assert digests[: len(earlier.messages)] == [message.digest for message in earlier.messages]
        assert digests[len(earlier.messages)] == end.digest
        echo, *answers = later.messages[len(earlier.messages) :]
        assert (echo.text, echo.calls) == (end.text, end.calls)
        assert [m.output and m.output.call_id for m in answers] == [call.call_id for call in end.calls]


@pytest.mark.parametrize(("run", "turn"), [("px", 0), ("x1", 0), ("x1", 2)])
def test_a_recorded_stream_reads_the_same_wherever_it_is_cut(corpus: Path, run: str, turn: int) -> None:
    body = recorded(corpus / "fixtures/codex" / run)[turn][2]
    whole = answered_by(WIRE, [body], clean=False)
    assert whole[1].complete
    for n, chunks in enumerate(cuts(body)):
        if n % 11 == 0:
            assert answered_by(WIRE, chunks, clean=False) == whole


def test_a_recorded_stream_that_is_cut_short_is_never_complete(corpus: Path) -> None:
    body = recorded(corpus / "fixtures/codex/x1")[0][2]
    last = body.index(b"event: response.completed")
    for at in range(0, last, 23):
        seen, end = answered_by(WIRE, [body[:at]])
        assert not end.complete
        assert brief(end.calls)[: len(seen)] == brief(seen)


def test_mutated_streams_and_requests_never_raise(corpus: Path) -> None:
    dice = random.Random(21)
    _, asked, body, _ = recorded(corpus / "fixtures/codex/x1")[0]
    request = json.dumps({"input": recorded(corpus / "fixtures/codex/x1")[2][1]["input"]}).encode()
    assert asked["stream"]
    for _ in range(800):
        WIRE.read_request(mutated(request, dice), target=TARGET)
        broken = mutated(body, dice)
        at = dice.randrange(len(broken))
        reader = WIRE.reader(content_type=SSE)
        seen = [*reader.feed(broken[:at]), *reader.feed(broken[at:]), *reader.feed(b"\n\n")]
        assert set(map(str, reader.close(clean=dice.random() < 0.5).calls)) <= set(map(str, seen))


WORDS = """type input output item item_id output_index id call_id name namespace arguments content role text delta
status response error usage input_tokens instructions tools metadata conversation previous_response_id action format"""
NAMES = st.sampled_from(WORDS.split())
VALUES = st.sampled_from(
    [
        "function_call", "custom_tool_call", "message", "assistant", "reasoning", "function_call_output", "namespace",
        "response.output_item.added", "response.output_item.done", "response.function_call_arguments.delta",
        "response.function_call_arguments.done", "response.output_text.delta", "response.completed", "completed",
        "response.incomplete", "local_shell_call", "output_text", "{}", '{"a":', "\ud83d", 0, 1, "a",
    ]
)  # fmt: skip
SHAPED: st.SearchStrategy[Any] = st.recursive(
    SCALARS | VALUES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=20,
)
ITEM = st.fixed_dictionaries(
    {"type": VALUES}, optional={"id": VALUES, "call_id": VALUES, "name": VALUES, "arguments": VALUES | SHAPED}
)
RESPONSE = st.fixed_dictionaries({}, optional={"output": st.lists(ITEM, max_size=2) | SHAPED, "status": VALUES})
EVENT = st.fixed_dictionaries(
    {"type": VALUES},
    optional={
        "item": ITEM | SHAPED,
        "item_id": VALUES,
        "output_index": VALUES,
        "delta": VALUES,
        "arguments": VALUES | SHAPED,
        "response": RESPONSE,
    },
)


def read_everything(body: bytes) -> None:
    WIRE.read_request(body, target=TARGET)
    answered_by(WIRE, [body], content_type=JSON)
    answered_by(WIRE, [body], content_type=SSE)


@given(SHAPED | ANY_JSON | st.lists(ITEM))
def test_any_json_reads(value: Any) -> None:
    for odd in (value, {"input": value}, {"input": [value]}, {"input": [{"type": "message", "content": value}]}):
        read_everything(json.dumps(odd).encode())
    read_everything(json.dumps({"output": value, "status": "completed"}).encode())


@given(st.binary())
def test_any_bytes_read(body: bytes) -> None:
    read_everything(body)
    read_everything(b"data: " + body + b"\n\n")


@given(st.lists(EVENT | SHAPED, max_size=8), st.booleans())
def test_any_events_read_and_what_stands_at_the_end_was_given_before(events: list[Any], clean: bool) -> None:
    stream = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)
    seen, end = answered_by(WIRE, [stream], clean=clean)
    assert all(call in seen for call in end.calls)
    assert end.text.encode().decode() == end.text
    assert [call.order for call in end.calls] == sorted({call.order for call in end.calls})


def test_depth_costs_no_fault() -> None:
    deep = '{"a":' * 3000 + "1" + "}" * 3000
    for arguments in (deep, deep.replace("1", "12345678901234567890")):
        read_everything(
            json.dumps({"input": [call("f", "a", arguments)], "output": [call("f", "a", arguments)]}).encode()
        )
        read_everything(b'{"input":[{"type":"x","y":' + arguments.encode() + b"}]}")
