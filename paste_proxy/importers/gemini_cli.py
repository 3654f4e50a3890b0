"""gemini-cli's chats: `~/.gemini/tmp/<project>/chats/session-*.jsonl`, in older versions one document each.

A line is the session's head, a message, or `$set`: later states of the head, with `messages` a whole new
history. A message is written again as its tool calls end, under the same id; its times are those of its
end. What was rewound (`$rewindTo`) or compressed did happen and stays. Sub-agents' chats stand in a folder
named for the session that sent them. Files of one session, as resuming leaves them, are read as one.
`logs.json` holds only what the user typed and is not read.

A saved conversation (`checkpoint-<tag>.json`) is an array of contents, without times; also
`{history: [...]}` or `{clientHistory: [...]}`.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from paste_proxy.events.values import Json
from paste_proxy.importers.contents import Contents
from paste_proxy.importers.epoch import epoch_seconds
from paste_proxy.importers.logs import grouped, sessions
from paste_proxy.importers.neutral import RecordedSession
from paste_proxy.importers.records import Corrupt, digest, document, records
from paste_proxy.importers.transcript import Transcript
from paste_proxy.wire.loose import listing, mapping, string

_OF_A_SERVER = " MCP Server)"
_HISTORIES = ("history", "clientHistory")


def read(files: Sequence[Path], corrupt: Corrupt) -> Iterator[RecordedSession]:
    """The sessions of chats and saved conversations.

    Raises:
        InputFault: for a file, or a line of one, that is no JSON (unless skipped).
    """
    return sessions(grouped(files, _session_in), _Chat, partial(_records, corrupt=corrupt))


def recognises(record: dict[str, Json]) -> bool:
    """Whether a record is one of a chat, or a document that is one."""
    if "sessionId" in record and "projectHash" in record:
        return True
    histories = [listing(record.get(name)) for name in _HISTORIES if name in record]
    contents = [mapping(history[0]) for history in histories if history]
    return "$set" in record or any(is_content(content) for content in contents)


def is_content(record: dict[str, Json]) -> bool:
    """Whether a record is a message in the Gemini API's words."""
    return isinstance(record.get("parts"), list) and record.get("role") in ("user", "model")


def _session_in(path: Path) -> str:
    """What the name of a file tells of its session: `session-<time>-<first digits of its id>`."""
    name = path.name.partition(".json")[0]
    return str(path.with_name(name.rpartition("-")[2] if name.startswith("session-") else name))


def _records(path: Path, corrupt: Corrupt) -> Iterator[dict[str, Json]]:
    if path.name.endswith((".jsonl", ".jsonl.gz")):
        for _, record in records(path, corrupt):
            yield record
        return
    whole = document(path, corrupt)
    yield {"history": whole} if isinstance(whole, list) else mapping(whole)


class _Chat:
    """One session being read."""

    def __init__(self, path: Path) -> None:
        sent_by = path.parent.name if path.parent.parent.name == "chats" else ""
        self._before = f"{sent_by}/" if sent_by else ""
        self.transcript = Transcript(self._before + path.name.partition(".json")[0], str(path))
        self._contents = Contents(self.transcript)
        self._seen: set[str] = set()
        self._named = False

    def take(self, record: dict[str, Json]) -> None:
        """Take the next line, or the document that the chat is."""
        if "id" in record and "type" in record:
            self._message(record)
            return
        head = mapping(record.get("$set")) or record
        if not self._named and (name := string(head.get("sessionId"))):
            self.transcript.id, self._named = self._before + name, True
        for message in map(mapping, listing(head.get("messages"))):
            self._message(message)
        history = next((listing(head[name]) for name in reversed(_HISTORIES) if listing(head.get(name))), [])
        if history:
            if not self._named:
                self.transcript.id += f"-{digest(history)}"
            self._contents.all(history)

    def _message(self, message: dict[str, Json]) -> None:
        ts, mark = epoch_seconds(message.get("timestamp")), string(message.get("id"))
        content = message.get("content")
        parts: list[Json] = [{"text": content}] if isinstance(content, str) else listing(content)
        match message.get("type"):
            case "user":
                self._contents.responses(parts, ts)
                if mark not in self._seen:
                    self._contents.user(parts, ts)
                self._seen.add(mark)
            case "gemini" | "qwen":
                self._contents.model(mark, parts, ts, model=string(message.get("model")))
                self._calls(mark, [mapping(call) for call in listing(message.get("toolCalls"))], ts)

    def _calls(self, mark: str, calls: list[dict[str, Json]], ts: float | None) -> None:
        named = [(string(call.get("id")) or f"{mark}#{place}", call) for place, call in enumerate(calls)]
        for call_id, call in named:
            self._contents.call(mark, {**call, "id": call_id}, ts, name=_identity(call))
        for call_id, call in named:
            ended, parts = epoch_seconds(call.get("timestamp")), listing(call.get("result"))
            failed = call.get("status") in ("error", "cancelled")
            # the results of a batch are written down together, when its last call ends
            self._contents.responses(parts, ended, asked=call_id, failed=failed, timed=len(calls) == 1)


def _identity(call: dict[str, Json]) -> str:
    """`server/tool` where the name shown to people says which part is which, else blank."""
    tool, between, server = string(call.get("displayName")).removesuffix(_OF_A_SERVER).rpartition(" (")
    return f"{server}/{tool}" if between and call.get("name") == f"mcp_{server}_{tool}" else ""
