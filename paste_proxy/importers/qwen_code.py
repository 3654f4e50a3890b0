"""qwen-code's chats: `~/.qwen/projects/<project>/chats/<session>.jsonl`, sub-agents' in `subagents/` beside.

Records form a tree by `parentUuid`, as Claude Code's do, and hold messages in the Gemini API's words; what
the program counts of itself stands between them: the seconds of LLM answers and tool calls. A sub-agent's
log has a record for each call, its turn being the one that began with a count of tokens. Older versions
wrote chats as gemini-cli does.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from paste_proxy.events.values import Json
from paste_proxy.importers import gemini_cli
from paste_proxy.importers.contents import Contents
from paste_proxy.importers.epoch import epoch_seconds, seconds
from paste_proxy.importers.logs import resumed, sessions
from paste_proxy.importers.neutral import RecordedSession
from paste_proxy.importers.records import Corrupt, records
from paste_proxy.importers.transcript import Transcript
from paste_proxy.wire.loose import listing, mapping, string


def read(files: Sequence[Path], corrupt: Corrupt) -> Iterator[RecordedSession]:
    """The sessions of chats, each sub-agent's one of its own.

    Raises:
        InputFault: for a file, or a line of one, that is no JSON (unless skipped).
    """
    older = [path for path in files if path.name.startswith(("session-", "checkpoint-"))]
    yield from gemini_cli.read(older, corrupt)
    newer = resumed([path for path in files if path not in set(older)])
    yield from sessions(newer, _Chat, lambda path: (record for _, record in records(path, corrupt)))


def recognises(record: dict[str, Json]) -> bool:
    """Whether a record is one of these chats."""
    return "sessionId" in record and "uuid" in record and (
        "parts" in mapping(record.get("message")) or "systemPayload" in record
    )  # fmt: skip


class _Chat:
    """One session being read."""

    def __init__(self, path: Path) -> None:
        self.transcript = Transcript(path.name.partition(".json")[0], str(path))
        self._contents = Contents(self.transcript)
        self._seen: set[str] = set()
        self._mark = ""
        self._llm_s: float | None = None
        self._tool_s: dict[str, float | None] = {}

    def take(self, record: dict[str, Json]) -> None:
        """Take the next record."""
        uuid = string(record.get("uuid"))
        if not uuid or uuid in self._seen:
            return
        if not self._seen:
            names = (string(record.get("sessionId")), string(record.get("agentId")))
            self.transcript.id = "/".join(filter(None, names)) or self.transcript.id
        self._seen.add(uuid)
        ts = epoch_seconds(record.get("timestamp"))
        parts = listing(mapping(record.get("message")).get("parts"))
        match record.get("type"):
            case "user":
                self._mark = ""
                if record.get("provenance") in (None, "real_user") and "subtype" not in record:
                    self._contents.user(parts, ts)
            case "assistant":
                if not self._mark or "usageMetadata" in record:
                    self._mark = uuid
                took, self._llm_s = self._llm_s, None
                model = string(record.get("model"))
                self._contents.model(self._mark, parts, ts, model=model, duration_s=took)
            case "tool_result":
                self._mark = ""
                self._result(mapping(record.get("toolCallResult")), parts, ts)
            case "system":
                self._count(mapping(mapping(record.get("systemPayload")).get("uiEvent")))

    def _result(self, told: dict[str, Json], parts: list[Json], ts: float | None) -> None:
        took = seconds(told.get("durationMs"), per_second=1000)
        if took is None:
            took = self._tool_s.pop(string(told.get("callId")), None)
        self._contents.responses(parts, ts, failed=told.get("status") in ("error", "cancelled"), duration_s=took)

    def _count(self, told: dict[str, Json]) -> None:
        took = seconds(told.get("duration_ms"), per_second=1000)
        match told.get("event.name"):
            case "qwen-code.api_response" if "subagent_name" not in told:
                self._llm_s = took
            case "qwen-code.tool_call":
                self._tool_s[string(told.get("call_id"))] = took
