"""OpenCode's sessions: messages and their parts, in `~/.local/share/opencode`.

They are kept in a database (`opencode.db`), in older versions as a file for each under `storage/message`
and `storage/part`; `opencode export` writes a session as one document, `{info, messages: [{info, parts}]}`.
An assistant's message holds one or more LLM turns, each begun by a `step-start`; a tool's part holds
call and result. Sub-agents' sessions have ids of their own.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from paste_proxy.events.values import Json
from paste_proxy.importers.epoch import epoch_seconds
from paste_proxy.importers.neutral import RecordedSession
from paste_proxy.importers.opencode_store import Message, from_database, from_export, from_folder
from paste_proxy.importers.records import Corrupt
from paste_proxy.importers.transcript import Transcript
from paste_proxy.wire.loose import mapping, string

_ENDED = ("completed", "error")


def read(files: Sequence[Path], corrupt: Corrupt) -> Iterator[RecordedSession]:
    """The sessions of databases, of folders of messages and of exports.

    Raises:
        InputFault: for a file that is no JSON or no database (unless skipped).
    """
    folders: dict[Path, list[Path]] = {}
    for path in sorted(files, key=lambda path: path.suffix != ".db"):
        if path.suffix == ".db":
            for session, messages in from_database(path, corrupt):
                yield from _session(session, str(path), messages)
        elif path.parent.parent.name == "message":
            folders.setdefault(path.parent, []).append(path)
        else:
            yield from _session(*from_export(path, corrupt))
    for folder, inside in folders.items():
        yield from _session(folder.name, str(folder), from_folder(inside, corrupt))


def recognises(record: dict[str, Json]) -> bool:
    """Whether a document is an export, or one message of a folder."""
    exported = "messages" in record and string(mapping(record.get("info")).get("id")).startswith("ses")
    return exported or ("sessionID" in record and "role" in record)


def _session(session: str, source: str, messages: Iterable[Message]) -> Iterator[RecordedSession]:
    transcript = Transcript(session, source)
    for message in messages:
        if message.info.get("role") == "user":
            _user(transcript, message)
        elif message.info.get("role") == "assistant" and message.info.get("summary") is not True:
            _assistant(transcript, message)
    yield from transcript.sessions()


def _user(transcript: Transcript, message: Message) -> None:
    said = [
        string(part.get("text"))
        for part in message.parts
        if part.get("type") == "text" and part.get("synthetic") is not True and part.get("ignored") is not True
    ]
    transcript.user("\n".join(filter(None, said)), _created(message))


def _assistant(transcript: Transcript, message: Message) -> None:
    model = string(message.info.get("modelID"))
    steps: list[list[dict[str, Json]]] = [[]]
    for part in message.parts:
        if part.get("type") == "step-start":
            steps.append([])
        steps[-1].append(part)
    for number, parts in enumerate(steps):
        if any(part.get("type") in ("text", "tool", "step-start") for part in parts):
            _turn(transcript, f"{message.id}/{number}", parts, model, _created(message))


def _turn(transcript: Transcript, mark: str, parts: list[dict[str, Json]], model: str, created: float | None) -> None:
    texts = [part for part in parts if part.get("type") == "text"]
    tools = [part for part in parts if part.get("type") == "tool"]
    said = [_time(part, "end") for part in texts] + [_time(mapping(part.get("state")), "start") for part in tools]
    known = [ts for ts in said if ts is not None]
    ts = max(known) if known else created
    text = "\n".join(filter(None, (string(part.get("text")) for part in texts)))
    transcript.turn(mark, ts, text=text, model=model)
    for part in tools:
        state = mapping(part.get("state"))
        begun = _time(state, "start")
        transcript.call(mark, string(part.get("callID")), string(part.get("tool")), state.get("input"), begun)
    for part in sorted(tools, key=lambda part: _time(mapping(part.get("state")), "end") or 0.0):
        state = mapping(part.get("state"))
        if state.get("status") in _ENDED:
            failed = state["status"] == "error"
            output = state.get("error") if failed else state.get("output")
            transcript.output(string(part.get("callID")), output, _time(state, "end"), failed=failed)


def _created(message: Message) -> float | None:
    return _time(message.info, "created")


def _time(held: dict[str, Json], name: str) -> float | None:
    return epoch_seconds(mapping(held.get("time")).get(name))
