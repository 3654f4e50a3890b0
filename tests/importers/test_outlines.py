"""Sessions in outline: as many as are read in full, with what tells their groups and sizes."""

from pathlib import Path

from paste_proxy.events.codec import encode
from paste_proxy.events.types import ToolCall
from paste_proxy.importers.neutral import RecordedSession, read, read_sessions
from paste_proxy.importers.outlines import Outline, outlines
from paste_proxy.mining.groups import groups_of, groups_of_opened
from paste_proxy.share import share
from tests.mining.sessions import Script

ASKED = "Please find the cheapest flight from Berlin to Oslo in May"


def outline(session: RecordedSession, opening: str | None) -> Outline:
    calls = sum(isinstance(event, ToolCall) for event in session.events)
    return Outline(session.id, session.source, opening, len(session.events), calls)


def test_outlines_are_those_of_the_sessions() -> None:
    sessions, found = read_sessions([share("traces")]), outlines([share("traces")])
    assert found == [outline(one, told.opening) for one, told in zip(sessions, found, strict=True)]
    assert groups_of_opened(found) == groups_of(sessions)


def test_a_session_opens_with_what_stands_first_in_it_not_in_the_file(tmp_path: Path) -> None:
    events = Script("s").user(ASKED).user("and then back again to Berlin in June, please").end().events
    first, second = (encode(event, seq) for seq, event in enumerate(events))
    for number, lines in enumerate((first + second, second + first, first)):
        (tmp_path / f"{number}.jsonl").write_bytes(lines)
    straight, turned, alone = (outlines([tmp_path / f"{number}.jsonl"]) for number in range(3))
    assert straight[0].opening == turned[0].opening == alone[0].opening is not None


def test_a_second_reading_gives_only_the_sessions_asked_for() -> None:
    sessions = read_sessions([share("traces")])
    ids = {session.id for session in sessions[::7]}
    assert list(read([share("traces")], among=ids).sessions) == sessions[::7]


def test_all_bytes_are_told_of(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    lines = [encode(event, seq) for seq, event in enumerate(Script("s").user(ASKED).end().events)]
    trace.write_bytes(b"".join(lines * 3_000))
    told: list[int] = []
    outlines([trace], told.append)
    assert len(told) > 5
    assert sum(told) == trace.stat().st_size
