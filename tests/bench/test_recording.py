"""Recordings made of the packaged sessions."""

from collections import Counter
from pathlib import Path

from paste_proxy.bench.recording import write_recording
from paste_proxy.events.types import ToolCall
from paste_proxy.importers.neutral import RecordedSession, read_sessions
from paste_proxy.mining.groups import groups_of
from paste_proxy.share import share


def calls(session: RecordedSession) -> list[ToolCall]:
    return [event for event in session.events if isinstance(event, ToolCall)]


def test_each_copy_is_another_task_about_other_things(tmp_path: Path) -> None:
    packaged = read_sessions([share("traces")])
    events = 3 * sum(len(session.events) for session in packaged)
    assert write_recording(tmp_path / "made.jsonl.gz", events) == events
    made = read_sessions([tmp_path / "made.jsonl.gz"])
    assert len(made) == 3 * len(packaged)
    assert len(set(groups_of(made))) == 3 * len(set(groups_of(packaged)))
    for original, copy in zip(packaged, made[len(packaged) :], strict=False):
        assert [call.invocation.tool for call in calls(copy)] == [call.invocation.tool for call in calls(original)]
        again = [Counter(call.invocation.key for call in calls(session)).values() for session in (original, copy)]
        assert sorted(again[0]) == sorted(again[1])
    first, second = (made[at * len(packaged) : (at + 1) * len(packaged)] for at in (0, 1))
    keys = [{call.invocation.key for session in copies for call in calls(session)} for copies in (first, second)]
    assert len(keys[0] & keys[1]) < len(keys[0]) / 2


def test_its_last_session_is_whole(tmp_path: Path) -> None:
    told: list[int] = []
    written = write_recording(tmp_path / "made.jsonl.gz", 100, told.append)
    assert written == sum(told) >= 100
    assert [len(session.events) for session in read_sessions([tmp_path / "made.jsonl.gz"])] == told
