"""Events come back from their lines as they were, and bad lines say what is wrong."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.events.codec import BadLine, decode, encode, event_of, read_lines
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status
from paste_proxy.events.types import Event, LlmTurn, Outcome, Speculation, ToolCall, ToolOutput, UserMessage
from paste_proxy.events.values import Json, canonical_text, loads
from tests.events.strategies import events


def exact(event: Event) -> list[str]:
    """What equality of events does not see: `1` from `1.0` from `true`, and the arguments themselves."""
    return [
        canonical_text(value.arguments if isinstance(value, Invocation) else value)
        for value in (getattr(event, name) for name in event.__slots__)
    ]


@given(events, st.integers(0, 2**40))
def test_an_event_comes_back_from_its_line_exactly(event: Event, seq: int) -> None:
    line = encode(event, seq)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert decode(line) == event
    assert exact(decode(line)) == exact(event)
    assert event_of(loads(line))[0] == seq


@given(events)
def test_a_line_is_plain_utf8_json_that_other_programs_read(event: Event) -> None:
    assert json.loads(encode(event, 3).decode("utf-8"))["seq"] == 3


@pytest.mark.parametrize("depth", [200, 300, 700])
def test_a_deeply_nested_output_comes_back(depth: int) -> None:
    output: Json = "bottom"
    for _ in range(depth):
        output = [output]
    event = ToolOutput(session="s", ts=None, call_id="c", tool="t", output=output, status=Status.OK)
    assert decode(encode(event, 0)) == event


def test_an_output_nested_beyond_reason_is_a_value_error() -> None:
    output: Json = None
    for _ in range(100_000):
        output = [output]
    event = ToolOutput(session="s", ts=None, call_id="c", tool="t", output=output, status=Status.OK)
    with pytest.raises(ValueError, match="nested too deeply"):
        encode(event, 0)
    with pytest.raises(ValueError, match=r"nest|recursion"):
        decode(b'{"v":1,"seq":1234567890123456789,"output":' + b"[" * 100_000)


def test_the_form_of_a_line_is_fixed() -> None:
    call = ToolCall(session="s", ts=1.5, call_id="c", invocation=Invocation("fs/read", {"b": 1, "a": 2}), turn=3)
    assert encode(call, 7) == (
        b'{"v":1,"ts":1.5,"session":"s","seq":7,"type":"tool_call","call_id":"c","tool":"fs/read",'
        b'"args":{"b":1,"a":2},"turn":3}\n'
    )
    job = Speculation(
        session="s",
        ts=None,
        invocation=call.invocation,
        source="p1",
        confidence=0.5,
        outcome=Outcome.REUSED,
        ran_s=2.0,
        saved_s=1.0,
    )
    assert json.loads(encode(job, 8))["outcome"] == "reused"


def test_fields_of_a_newer_writer_are_passed_over() -> None:
    line = b'{"v":1,"ts":null,"session":"s","seq":0,"type":"user","text":"hi","mood":"good"}'
    assert decode(line) == UserMessage(session="s", ts=None, text="hi")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"v": 2}, r"v is 2, this program reads 1"),
        ({"v": None}, r"v is None"),
        ({"type": "dream"}, r"type is 'dream', expected one of user, "),
        ({"type": None}, r"type is None"),
        ({"session": 5}, r"session is 5, expected a text"),
        ({"seq": "1"}, r"seq is '1', expected a whole number"),
        ({"seq": True}, r"seq is True"),
        ({"ts": "now"}, r"ts is 'now', expected a number"),
        ({"text": None}, r"text is None, expected a text"),
        ({"complete": 1}, r"complete is 1, expected true or false"),
        ({"input_tokens": 1.5}, r"input_tokens is 1.5, expected a whole number"),
        ({"type": "tool_output", "tool": "t", "call_id": "c", "status": "fine"}, r"status is 'fine', expected ok or"),
        ({"type": "tool_output", "tool": "t", "call_id": "c", "status": []}, r"status is \[\], expected ok or"),
        ({"type": "tool_call", "tool": "t", "call_id": "c"}, r"args is missing"),
        ({"type": "tool_call", "tool": "t", "call_id": "c", "args": [1]}, r"args is \[1\], expected an object"),
        ({"type": "tool_call", "args": {}, "call_id": "c"}, r"tool is missing"),
    ],
)
def test_a_wrong_field_is_named_with_what_was_expected(change: dict[str, Json], reason: str) -> None:
    record = {"v": 1, "ts": None, "session": "s", "seq": 0, "type": "llm_turn", "text": "hm"} | change
    with pytest.raises(ValueError, match=reason):
        decode(json.dumps(record))


@pytest.mark.parametrize("line", [b"[]", b"7", b"null", b'"v"', b"{}", b"", b"\xff\xfe", b"\x00\x00", b"{"])
def test_what_is_no_record_is_a_value_error(line: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        decode(line)


@given(st.binary(max_size=60) | st.text().map(str.encode))
def test_no_bytes_make_reading_raise_anything_else(line: bytes) -> None:
    list(read_lines([line]))


def test_reading_goes_on_past_bad_lines_and_numbers_them() -> None:
    good = LlmTurn(session="s", ts=None, text="x")
    found = list(read_lines([encode(good, 0), b"\n", b"{broken\n", encode(good, 1), b'{"v":1,"se']))
    assert found[0] == found[2] == good
    bad = [entry for entry in found if isinstance(entry, BadLine)]
    assert [(entry.number, entry.torn) for entry in bad] == [(3, False), (5, True)]


@given(st.lists(events, min_size=1, max_size=4), st.data())
def test_a_log_cut_at_any_byte_loses_the_cut_line_only(logged: list[Event], data: st.DataObject) -> None:
    lines = [encode(event, seq) for seq, event in enumerate(logged)]
    log = b"".join(lines)
    cut = log[: data.draw(st.integers(0, len(log)))]
    found = list(read_lines(cut.splitlines(keepends=True)))
    whole = [entry for entry in found if not isinstance(entry, BadLine)]
    assert whole == logged[: len(whole)]
    assert len(whole) >= cut.count(b"\n")
    assert all(entry.torn for entry in found if isinstance(entry, BadLine))
