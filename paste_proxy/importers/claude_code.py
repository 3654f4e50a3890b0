"""Claude Code's transcripts: `~/.claude/projects/<folder>/<session>.jsonl`, and its sub-agents' beside them.

A record is a block of a message: those of one API message share `message.id` and are one turn. Records
form a tree by `parentUuid`; results of parallel calls hang on their calls, so the tree says less than the
order of the lines, which is the order of events. What was rewound did happen and stays. A sub-agent's
records (`isSidechain`) are a session of its own, told apart by `agentId`, in older versions by the root
of their tree. Compaction begins no new session. Records of other types hold no events.

A resumed session is in older versions a new file that begins with a copy of the old one: files whose
first records are the same are one session, each record read once.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from paste_proxy.events.values import Json
from paste_proxy.importers.epoch import epoch_seconds, seconds
from paste_proxy.importers.logs import resumed
from paste_proxy.importers.neutral import RecordedSession
from paste_proxy.importers.records import Corrupt, records
from paste_proxy.importers.said import result_of, texts_of, words
from paste_proxy.importers.transcript import Transcript
from paste_proxy.wire.loose import listing, mapping, string

_PEOPLE = ("", "human", "person", "composer", "remote", "voice-call")
"""Origins of messages that people wrote; the others are the client's own."""


def read(files: Sequence[Path], corrupt: Corrupt) -> Iterator[RecordedSession]:
    """The sessions of transcripts, each with its sub-agents.

    Raises:
        InputFault: naming file and line, for a line that is no JSON object (unless skipped).
    """
    for group in resumed(files):
        log = _Log(str(group[0]))
        for path in group:
            for _, record in records(path, corrupt):
                log.take(record)
        for transcript in log.transcripts.values():
            yield from transcript.sessions()


def recognises(record: dict[str, Json]) -> bool:
    """Whether a record is one of these transcripts'."""
    kind = record.get("type")
    if "sessionId" in record and "uuid" in record and "message" in record:
        return "parts" not in mapping(record["message"])
    return kind in ("queue-operation", "file-history-snapshot", "mode") or (kind == "summary" and "leafUuid" in record)


class _Log:
    """One file, or the files of one session, being read."""

    def __init__(self, source: str) -> None:
        self.transcripts: dict[str, Transcript] = {}
        self._source = source
        self._session = ""
        self._seen: set[str] = set()
        self._prompts: Counter[str] = Counter()
        self._roots: dict[str, str] = {}

    def take(self, record: dict[str, Json]) -> None:
        """Take the next record."""
        uuid = string(record.get("uuid"))
        if record.get("type") not in ("user", "assistant", "system", "attachment") or uuid in self._seen:
            return
        self._seen.add(uuid)
        self._session = self._session or string(record.get("sessionId")) or Path(self._source).stem
        agent = self._agent(record, uuid)
        if record["type"] == "user":
            self._user(self._transcript(agent), record)
        elif record["type"] == "assistant":
            self._assistant(self._transcript(agent), record, uuid)

    def _agent(self, record: dict[str, Json], uuid: str) -> str:
        if record.get("isSidechain") is not True:
            return ""
        root = self._roots.get(string(record.get("parentUuid")), uuid)
        self._roots[uuid] = root
        return string(record.get("agentId")) or root

    def _transcript(self, agent: str) -> Transcript:
        if agent not in self.transcripts:
            name = f"{self._session}/{agent}" if agent else self._session
            self.transcripts[agent] = Transcript(name, self._source)
        return self.transcripts[agent]

    def _user(self, transcript: Transcript, record: dict[str, Json]) -> None:
        ts = epoch_seconds(record.get("timestamp"))
        content = mapping(record.get("message")).get("content")
        for block in map(mapping, listing(content)):
            if block.get("type") == "tool_result":
                transcript.output(
                    string(block.get("tool_use_id")),
                    result_of(block.get("content")),
                    ts,
                    failed=block.get("is_error") is True,
                    duration_s=_own_time(record.get("toolUseResult")),
                )
        typed = "\n".join(filter(None, map(words, texts_of(content)))) if _by_a_person(record) else ""
        self._prompts[transcript.id] += bool(typed)
        transcript.user(typed, ts)

    def _assistant(self, transcript: Transcript, record: dict[str, Json], uuid: str) -> None:
        message = mapping(record.get("message"))
        model = string(message.get("model"))
        if model == "<synthetic>" or record.get("isApiErrorMessage") is True:
            return
        ts = epoch_seconds(record.get("timestamp"))
        # some gateways count their messages from 1 again in every run
        mark = f"{self._prompts[transcript.id]}/{string(message.get('id')) or uuid}"
        blocks = [mapping(block) for block in listing(message.get("content"))]
        transcript.turn(mark, ts, text="\n".join(texts_of(message.get("content"))), model=model)
        for block in blocks:
            if block.get("type") == "tool_use":
                transcript.call(mark, string(block.get("id")), string(block.get("name")), block.get("input"), ts)


def _by_a_person(record: dict[str, Json]) -> bool:
    own = any(record.get(flag) is True for flag in ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly"))
    return not own and string(mapping(record.get("origin")).get("kind")) in _PEOPLE


def _own_time(result: Json) -> float | None:
    """Seconds that the tool itself counted: without the time that a person took to permit it."""
    told = mapping(result)
    for name in ("durationMs", "totalDurationMs"):
        if (took := seconds(told.get(name), per_second=1000)) is not None:
            return took
    return seconds(told.get("durationSeconds"))
