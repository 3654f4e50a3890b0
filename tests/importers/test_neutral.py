"""Recorded sessions, from the neutral form and from our own log, with calls tied to turns and outputs."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from paste_proxy.errors import InputFault
from paste_proxy.events.codec import encode
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status
from paste_proxy.events.types import Event, LlmTurn, ToolCall, ToolOutput, UserMessage
from paste_proxy.importers.neutral import RecordedSession, read, read_sessions


def neutral(kind: str, seq: int, **fields: object) -> bytes:
    nothing = dict.fromkeys(("ts", "agent", "tool", "args", "call_id", "output", "status", "duration_s"))
    record = nothing | {"session": "s", "seq": seq, "type": kind, "source": "a project"} | fields
    return json.dumps(record).encode() + b"\n"


def call(seq: int, call_id: str | None, turn_id: str | None = None, **fields: object) -> bytes:
    mark = {"turn_id": turn_id} if turn_id else {}
    return neutral("tool_call", seq, **({"tool": "t", "args": {"n": seq}, "call_id": call_id} | mark | fields))


def answer(seq: int, call_id: str | None, **fields: object) -> bytes:
    return neutral("tool_output", seq, **({"tool": "t", "call_id": call_id, "output": seq, "status": "ok"} | fields))


def llm(seq: int, turn_id: str | None = None) -> bytes:
    mark = {"turn_id": turn_id} if turn_id else {}
    return neutral("llm_turn", seq, output="hm", agent="m", **mark)


def user(seq: int) -> bytes:
    return neutral("user", seq, output="do it", agent="user")


def sessions_of(folder: Path, *lines: bytes) -> list[RecordedSession]:
    trace = folder / "trace.jsonl"
    trace.write_bytes(b"".join(lines))
    return read_sessions([trace])


def turns(session: RecordedSession) -> list[int | None]:
    return [event.turn for event in session.events if isinstance(event, LlmTurn | ToolCall)]


def pairs(session: RecordedSession) -> list[tuple[object, object]]:
    """Each output with the argument of the call that its id names."""
    calls = {event.call_id: event.invocation.arguments["n"] for event in session.events if isinstance(event, ToolCall)}
    return [(calls[event.call_id], event.output) for event in session.events if isinstance(event, ToolOutput)]


def test_each_kind_of_record_becomes_its_event(tmp_path: Path) -> None:
    [session] = sessions_of(
        tmp_path,
        neutral("user", 0, output="find it", agent="user", ts=1.0),
        neutral("llm_turn", 1, output="I look", agent="gpt", ts=2.0),
        neutral("tool_call", 2, tool="mcp__fs__read", args={"path": "a"}, call_id="c1", ts=2.5),
        neutral(
            "tool_output", 3, tool="mcp__fs__read", call_id="c1", output=["x"], status="error",
            duration_s=0.5, truncated=True, ts=3.0, exit_code=1,
        ),
    )  # fmt: skip
    expected: tuple[Event, ...] = (
        UserMessage(session="s", ts=1.0, text="find it"),
        LlmTurn(session="s", ts=2.0, text="I look", model="gpt"),
        ToolCall(session="s", ts=2.5, call_id="c1", invocation=Invocation("fs/read", {"path": "a"}), turn=0),
        ToolOutput(
            session="s",
            ts=3.0,
            call_id="c1",
            tool="fs/read",
            output=["x"],
            status=Status.ERROR,
            duration_s=0.5,
            truncated=True,
        ),
    )
    assert session == RecordedSession("s", "a project", expected)
    [_, _, read_call, _] = session.events
    assert isinstance(read_call, ToolCall)
    assert read_call.invocation.arguments == {"path": "a"}


def test_sessions_are_grouped_and_each_ordered_by_seq(tmp_path: Path) -> None:
    one, two = sessions_of(tmp_path, answer(2, "a"), user(0).replace(b'"s"', b'"other"'), call(1, "a"), user(0))
    assert [type(event) for event in one.events] == [UserMessage, ToolCall, ToolOutput]
    assert (one.id, two.id) == ("s", "other")


def test_a_marked_batch_is_one_turn_even_around_an_output(tmp_path: Path) -> None:
    [session] = sessions_of(
        tmp_path,
        llm(0, "m1"),
        call(1, "a", "m1"),
        answer(2, "a"),
        call(3, "b", "m1"),
        answer(4, "b"),
        call(5, "c", "m2"),
    )
    assert turns(session) == [0, 0, 0, 1]


def test_without_marks_calls_that_stand_together_are_one_turn(tmp_path: Path) -> None:
    [session] = sessions_of(
        tmp_path,
        *(user(0), call(1, "a"), call(2, "b"), answer(3, "a"), answer(4, "b")),
        *(call(5, "c"), answer(6, "c"), llm(7), call(8, "d"), call(9, "e"), llm(10), llm(11)),
    )
    assert turns(session) == [0, 0, 1, 2, 2, 2, 3, 4]


def test_an_id_used_twice_pairs_each_output_with_its_own_call(tmp_path: Path) -> None:
    [session] = sessions_of(tmp_path, call(0, "a"), answer(1, "a"), call(2, "a"), answer(3, "a"))
    assert pairs(session) == [(0, 1), (2, 3)]
    [crossed] = sessions_of(tmp_path, call(0, "a"), call(1, "a"), call(2, "b"), *map(answer, (3, 4, 5), "baa"))
    assert pairs(crossed) == [(2, 3), (0, 4), (1, 5)]


def test_calls_without_ids_are_paired_in_order(tmp_path: Path) -> None:
    [session] = sessions_of(tmp_path, call(0, None), call(1, None), answer(2, None), answer(3, None))
    assert pairs(session) == [(0, 2), (1, 3)]


def test_arguments_may_be_text_or_absent(tmp_path: Path) -> None:
    [session] = sessions_of(tmp_path, call(0, "a", args='{"x": 1}'), call(1, "b", args=None), call(2, "c", args=""))
    arguments = [event.invocation.arguments for event in session.events if isinstance(event, ToolCall)]
    assert arguments == [{"x": 1}, {}, {}]


def test_our_own_log_comes_back_as_it_was_recorded(tmp_path: Path) -> None:
    events: tuple[Event, ...] = (
        UserMessage(session="s", ts=1.0, text="go"),
        ToolCall(session="s", ts=2.0, call_id="a", invocation=Invocation("t", {}), turn=7),
        ToolCall(session="s", ts=2.0, call_id="a", invocation=Invocation("t", {}), turn=9),
    )
    trace = tmp_path / "events-1.jsonl"
    trace.write_bytes(b"".join(encode(event, seq) for seq, event in enumerate(events)))
    assert read_sessions([trace]) == [RecordedSession("s", str(trace), events)]


def test_a_session_goes_on_in_the_next_segment_though_its_seq_starts_again(tmp_path: Path) -> None:
    texts = ["one", "two", "three"]
    for number, (text, seq) in enumerate(zip(texts, (0, 1, 0), strict=True)):
        (tmp_path / f"events-{number}.jsonl").write_bytes(encode(UserMessage(session="s", ts=None, text=text), seq))
    [session] = read_sessions([tmp_path])
    assert [event.text for event in session.events if isinstance(event, UserMessage)] == texts


def test_a_folder_is_read_in_name_order_packed_or_not_and_nothing_twice(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(user(0).replace(b'"s"', b'"first"')))
    (tmp_path / "deep" / "b.jsonl").write_bytes(user(0).replace(b'"s"', b'"second"'))
    (tmp_path / "notes.md").write_text("not a trace")
    sessions = read_sessions([tmp_path, tmp_path / "a.jsonl.gz"])
    assert [session.id for session in sessions] == ["first", "second"]
    assert [len(session.events) for session in sessions] == [1, 1]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{broken\n", r"trace.jsonl:3: .*expected an event line"),
        (b"[1]\n", r"trace.jsonl:3: a JSON list instead of an object"),
        (neutral("dream", 2), r"trace.jsonl:3: type is 'dream' instead of user, llm_turn, tool_call, tool_output"),
        (neutral("user", 2, session=None), r"trace.jsonl:3: session is None instead of a text"),
        (user(2).replace(b'"seq": 2', b'"seq": "2"'), r"trace.jsonl:3: seq is '2' instead of a whole number"),
        (neutral("user", 2, ts="now"), r"trace.jsonl:3: ts is 'now' instead of seconds"),
        (neutral("user", 2, output=[1]), r"trace.jsonl:3: output is \[1\] instead of a text"),
        (call(2, "a", args=[1]), r"trace.jsonl:3: args is \[1\] instead of an object"),
        (call(2, "a", args="{"), r"trace.jsonl:3: "),
        (call(2, "a", tool=None), r"trace.jsonl:3: tool is None"),
        (answer(2, "a", status="fine"), r"trace.jsonl:3: status is 'fine' instead of ok or error"),
        (b'{"v": 9, "type": "user"}\n', r"trace.jsonl:3: v is 9, this program reads 1"),
    ],
)
def test_a_corrupt_line_is_named_with_file_and_number_or_counted(tmp_path: Path, line: bytes, reason: str) -> None:
    trace = tmp_path / "trace.jsonl"
    trace.write_bytes(b"".join([user(0), b"\n", line, user(1)]))
    with pytest.raises(InputFault, match=reason):
        read_sessions([trace])
    reading = read([trace], skip_bad=True)
    assert (reading.bad, reading.torn) == (1, 0)
    assert len(reading.sessions[0].events) == 2


def test_a_torn_last_line_is_no_fault_but_reported(tmp_path: Path) -> None:
    trace = tmp_path / "events-1.jsonl"
    trace.write_bytes(user(0) + user(1)[:25])
    reading = read([trace])
    assert (reading.bad, reading.torn) == (0, 1)
    assert len(reading.sessions[0].events) == 1


def test_unreadable_input_says_which_file_and_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(InputFault, match=r"nowhere: no such file; expected event lines: .*\.jsonl or \.jsonl\.gz"):
        read_sessions([tmp_path / "nowhere"])
    with pytest.raises(InputFault, match=r"a folder without traces; expected files ending in .jsonl"):
        read_sessions([tmp_path])
    cut = tmp_path / "cut.jsonl.gz"
    cut.write_bytes(gzip.compress(b"".join(map(user, range(5_000))))[:-20])
    with pytest.raises(InputFault, match=r"cut.jsonl.gz:\d+: the compressed file is cut here"):
        read_sessions([cut])


def test_recorded_corpora_are_read_whole(corpus: Path) -> None:
    reading = read([corpus / "corpus"])
    events = [event for session in reading.sessions for event in session.events]
    kinds = Counter(type(event) for event in events)
    assert (reading.bad, reading.torn, len(reading.sessions)) == (0, 0, 1088)
    assert kinds[ToolCall] == 20_139
    for session in reading.sessions:
        ids = [event.call_id for event in session.events if isinstance(event, ToolCall)]
        answered = [event.call_id for event in session.events if isinstance(event, ToolOutput)]
        assert len(set(ids)) == len(ids)
        assert set(answered) <= set(ids)
        numbers = [turn or 0 for turn in turns(session)]
        assert numbers == sorted(numbers)
