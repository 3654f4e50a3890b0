"""OpenCode's sessions from its database and its older folders of files, the same as from an export."""

import json
import sqlite3
from pathlib import Path

import pytest

from paste_proxy.errors import InputFault
from paste_proxy.importers.formats import FORMATS
from paste_proxy.importers.records import Corrupt
from tests.importers.logs import Told, answers, calls, outputs, read, turns, users
from tests.importers.scripted import EXAMPLE, read_back
from tests.importers.writers import opencode


def exported(folder: Path) -> Told:
    told = json.loads(opencode(folder, EXAMPLE).read_text())
    assert isinstance(told, dict)
    return told


def database(path: Path, *sessions: Told) -> Path:
    with sqlite3.connect(path) as into:
        into.execute("CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT)")
        into.execute("CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, data TEXT)")
        for session in sessions:
            fill(into, session)
    into.close()
    return path


def fill(into: sqlite3.Connection, session: Told) -> None:
    info, messages = session["info"], session["messages"]
    assert isinstance(info, dict)
    assert isinstance(messages, list)
    for place, message in enumerate(messages):
        name = message["info"]["id"]
        into.execute("INSERT INTO message VALUES (?, ?, ?, ?)", (name, info["id"], place, json.dumps(message["info"])))
        for number, part in enumerate(message["parts"]):
            row = (f"{name}-{number:04}", name, info["id"], json.dumps(part))
            into.execute("INSERT INTO part VALUES (?, ?, ?, ?)", row)


def folders(root: Path, session: Told) -> None:
    info, messages = session["info"], session["messages"]
    assert isinstance(info, dict)
    assert isinstance(messages, list)
    for message in messages:
        told = message["info"]
        path = root / "storage" / "message" / info["id"] / f"{told['id']}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(told | {"sessionID": info["id"]}))
        for number, part in enumerate(message["parts"]):
            inside = root / "storage" / "part" / told["id"] / f"prt_{number:04}.json"
            inside.parent.mkdir(parents=True, exist_ok=True)
            inside.write_text(json.dumps(part))


def test_database_and_folders_tell_what_an_export_tells(tmp_path: Path) -> None:
    session = exported(tmp_path / "exported")
    folders(tmp_path / "older", session)
    [of_export] = read("opencode", tmp_path / "exported")
    [of_database] = read("opencode", database(tmp_path / "opencode.db", session))
    [of_folders] = read("opencode", tmp_path / "older")
    assert of_database.id == of_folders.id == of_export.id
    assert of_database.events == of_folders.events == of_export.events
    assert len(read_back(of_export)) > 10


def test_each_step_of_a_message_is_a_turn_and_times_are_in_milliseconds(tmp_path: Path) -> None:
    def tool(name: str, start: int, end: int, **state: object) -> Told:
        told = {"status": "completed", "input": {}, "time": {"start": start, "end": end}} | state
        return {"type": "tool", "callID": name, "tool": name, "state": told}

    parts = [
        {"type": "step-start"},
        tool("slow", 1_760_000_003_000, 1_760_000_009_500, output="x"),
        tool("quick", 1_760_000_003_000, 1_760_000_004_000, status="error", error="no"),
        {"type": "step-finish"},
        {"type": "step-start"},
        tool("open", 1_760_000_012_000, 0, status="running"),
        {"type": "patch"},
    ]
    messages = [
        {
            "info": {"id": "1", "role": "user", "time": {"created": 1_760_000_001_000}},
            "parts": [{"type": "text", "text": "go"}],
        },
        {"info": {"id": "2", "role": "assistant", "time": {"created": 1_760_000_001_500}}, "parts": parts},
        {"info": {"id": "3", "role": "assistant", "summary": True}, "parts": [{"type": "text", "text": "so far"}]},
    ]
    path = tmp_path / "one.json"
    path.write_text(json.dumps({"info": {"id": "ses_1"}, "messages": messages}))
    [session] = read("opencode", path)
    assert users(session) == ["go"]
    assert [turn.duration_s for turn in turns(session)] == [2.0, 2.5]
    assert [name for name, _ in calls(session)] == ["slow", "quick", "open"]
    assert [event.tool for event in outputs(session)] == ["quick", "slow"]
    assert answers(session) == [("no", "error", 1.0), ("x", "ok", 6.5)]


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\x00 not really", b"{}"])
def test_a_file_that_is_no_such_database_is_named(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    path.write_bytes(content)
    with pytest.raises(InputFault, match=r"opencode\.db: cannot be read .*expected OpenCode's database"):
        read("opencode", path)


def test_a_row_that_is_no_json_stops_or_is_counted(tmp_path: Path) -> None:
    path = database(tmp_path / "opencode.db", exported(tmp_path))
    with sqlite3.connect(path) as into:
        into.execute("UPDATE part SET data = '{broken' WHERE id = 'msg_0-0000'")
    into.close()
    with pytest.raises(InputFault, match=r"opencode\.db session ses_\S+: .*expected rows of JSON"):
        read("opencode", path)
    corrupt = Corrupt(skip=True)
    assert len(list(FORMATS["opencode"].read([path], corrupt))) == 1
    assert corrupt.bad == 1
