"""Where OpenCode keeps messages and parts: a database, a folder of files, or an exported document."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from paste_proxy.errors import InputFault
from paste_proxy.events.values import Json, loads
from paste_proxy.importers.records import Corrupt, document
from paste_proxy.wire.loose import listing, mapping, string


@dataclass(frozen=True, slots=True)
class Message:
    """One message, its parts in order."""

    id: str
    info: dict[str, Json]
    parts: list[dict[str, Json]]


def from_database(path: Path, corrupt: Corrupt) -> Iterator[tuple[str, list[Message]]]:
    """The sessions of a database and their messages. It is opened to read only, also while OpenCode runs.

    Raises:
        InputFault: it is no such database, or a row is no JSON (unless skipped).
    """
    corrupt.on_file(path)
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as database:
            for (session,) in database.execute(
                "SELECT DISTINCT session_id FROM message ORDER BY session_id"
            ).fetchall():
                yield str(session), list(_rows(database, session, f"{path} session {session}", corrupt))
    except (sqlite3.Error, UnicodeError) as fault:
        raise InputFault(str(path), f"cannot be read ({fault})", "OpenCode's database") from fault


def from_folder(files: list[Path], corrupt: Corrupt) -> Iterator[Message]:
    """The messages of one session: `storage/message/<session>/<message>.json`, parts in `storage/part/<message>`.

    Raises:
        InputFault: a file is no JSON (unless skipped).
    """
    for path in sorted(files):
        info = mapping(document(path, corrupt))
        store, message = path.parent.parent.parent, path.stem
        folders = (store / "part" / message, store / "part" / path.parent.name / message)
        inside = sorted(part for folder in folders if folder.is_dir() for part in folder.glob("*.json"))
        yield Message(message, info, [mapping(document(part, corrupt)) for part in inside])


def from_export(path: Path, corrupt: Corrupt) -> tuple[str, str, Iterator[Message]]:
    """Id, source and messages of an exported session.

    Raises:
        InputFault: the file is no JSON, or no export (unless skipped).
    """
    whole = mapping(document(path, corrupt))
    session = string(mapping(whole.get("info")).get("id"))
    if whole and "messages" not in whole:
        corrupt.found(str(path), "no exported session", "an object with info and messages")
    return session or path.stem, str(path), map(_message, map(mapping, listing(whole.get("messages"))))


def _message(held: dict[str, Json]) -> Message:
    info = mapping(held.get("info"))
    return Message(string(info.get("id")), info, [mapping(part) for part in listing(held.get("parts"))])


def _rows(database: sqlite3.Connection, session: Json, where: str, corrupt: Corrupt) -> Iterator[Message]:
    messages = database.execute(
        "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id", (session,)
    )
    for message, data in messages.fetchall():
        parts = database.execute("SELECT data FROM part WHERE message_id = ? ORDER BY id", (message,)).fetchall()
        info = _read(data, where, corrupt)
        yield Message(str(message), info, [_read(part, where, corrupt) for (part,) in parts])


def _read(data: object, where: str, corrupt: Corrupt) -> dict[str, Json]:
    try:
        return mapping(loads(data if isinstance(data, str | bytes) else ""))
    except ValueError as fault:
        corrupt.found(where, str(fault), "rows of JSON")
        return {}
