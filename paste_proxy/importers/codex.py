"""Codex rollouts: `~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`.

A line is `{timestamp, type, payload}`. The conversation is in the `response_item`s, in the Responses API's
words; `event_msg`s tell the same again for people, and how calls ended. Older rollouts are the items
without that wrapper and without times; the oldest are one document, `{session, items}`. What compaction
replaces (`compacted`) has been told before.

Items do not say which answer of the LLM they are of: a turn is what stands between two outputs or user
messages, or up to the count of its tokens.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from paste_proxy.events.values import Json
from paste_proxy.importers.codex_output import Ended, ended_by, mcp_result, outcome
from paste_proxy.importers.epoch import epoch_seconds
from paste_proxy.importers.logs import grouped, sessions
from paste_proxy.importers.neutral import RecordedSession
from paste_proxy.importers.records import Corrupt, document, records
from paste_proxy.importers.said import text_of, words
from paste_proxy.importers.transcript import Transcript
from paste_proxy.wire.loose import listing, mapping, string

_ITEMS = ("message", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output",
          "local_shell_call", "local_shell_call_output")  # fmt: skip
_WRAPPED = ("session_meta", "response_item", "event_msg", "turn_context", "compacted", "token_usage_record")
_ID_LENGTH = 36


def read(files: Sequence[Path], corrupt: Corrupt) -> Iterator[RecordedSession]:
    """The sessions of rollouts; files of one session id are one session.

    Raises:
        InputFault: naming file and line, for a line that is no JSON object (unless skipped).
    """
    return sessions(grouped(files, _session_in), _Rollout, partial(_records, corrupt=corrupt))


def recognises(record: dict[str, Json]) -> bool:
    """Whether a record is one of a rollout."""
    if record.get("type") in _WRAPPED and isinstance(record.get("payload"), dict):
        return True
    older = isinstance(record.get("id"), str) and "timestamp" in record and "instructions" in record
    return older or record.get("record_type") == "state" or ("session" in record and "items" in record)


def _session_in(path: Path) -> str:
    """The id at the end of a file's name, blank where none is."""
    name = path.name.partition(".json")[0]
    return name[-_ID_LENGTH:] if len(name) > _ID_LENGTH else ""


def _records(path: Path, corrupt: Corrupt) -> Iterator[dict[str, Json]]:
    if path.name.endswith((".json", ".json.gz")):
        whole = mapping(document(path, corrupt))
        yield mapping(whole.get("session"))
        yield from map(mapping, listing(whole.get("items")))
        return
    for _, record in records(path, corrupt):
        yield record


class _Rollout:
    """One session being read."""

    def __init__(self, path: Path) -> None:
        self.transcript = Transcript(path.name.partition(".json")[0], str(path))
        self._named = False
        self._model = ""
        self._turn = 0
        self._ended: dict[str, Ended] = {}

    def take(self, record: dict[str, Json]) -> None:
        """Take the next record."""
        kind, payload = string(record.get("type")), mapping(record.get("payload"))
        ts = epoch_seconds(record.get("timestamp"))
        match kind:
            case "session_meta":
                self._name(payload)
            case "turn_context":
                self._model = string(payload.get("model"))
            case "token_usage_record":
                self._turn += 1
            case "event_msg":
                self._event(payload)
            case "response_item":
                self._item(payload, ts)
            case _ if kind in _ITEMS:
                self._item(record, ts)
            case _ if not kind:
                self._name(record)

    def _name(self, meta: dict[str, Json]) -> None:
        """The first name counts: a fork goes on to repeat that of the session it came from."""
        if not self._named and (name := string(meta.get("id"))):
            self.transcript.id, self._named = name, True

    def _event(self, payload: dict[str, Json]) -> None:
        if payload.get("type") == "token_count":
            self._turn += 1
        elif found := ended_by(payload):
            call_id, ended = found
            self._ended[call_id] = ended

    def _item(self, item: dict[str, Json], ts: float | None) -> None:
        call_id = string(item.get("call_id")) or string(item.get("id"))
        match item.get("type"):
            case "message" if item.get("role") == "user":
                self._turn += 1
                self.transcript.user(_typed(item), ts)
            case "message" if item.get("role") == "assistant":
                self.transcript.turn(self._mark(), ts, text=text_of(item.get("content")), model=self._model)
            case "function_call":
                space, name = string(item.get("namespace")), string(item.get("name"))
                self._call(call_id, f"{space}__{name}" if space else name, item.get("arguments"), ts)
            case "custom_tool_call":
                self._call(call_id, string(item.get("name")), {"input": item.get("input")}, ts)
            case "local_shell_call":
                action = mapping(item.get("action"))
                asked: dict[str, Json] = {name: value for name, value in action.items() if name != "type"}
                self._call(call_id, "local_shell", asked, ts)
            case "function_call_output" | "custom_tool_call_output" | "local_shell_call_output":
                self._turn += 1
                self._output(call_id, item.get("output"), ts)

    def _mark(self) -> str:
        return str(self._turn)

    def _call(self, call_id: str, name: str, arguments: Json, ts: float | None) -> None:
        self.transcript.turn(self._mark(), ts, model=self._model)
        self.transcript.call(self._mark(), call_id, name, arguments, ts)

    def _output(self, call_id: str, output: Json, ts: float | None) -> None:
        told = outcome(output)
        ended = self._ended.pop(call_id, Ended())
        self.transcript.output(
            call_id,
            mcp_result(ended, told.result),
            ts,
            failed=told.failed if ended.failed is None else ended.failed,
            duration_s=told.took_s if ended.took_s is None else ended.took_s,
        )


def _typed(item: dict[str, Json]) -> str:
    """What a person typed of a user message: newer rollouts say of each block where it came from."""
    told = listing(mapping(item.get("internal_chat_message_metadata_passthrough")).get("content_item_metadata"))
    origins = [string(mapping(mapping(one).get("provenance")).get("type")) for one in told]
    blocks = listing(item.get("content"))
    if len(origins) == len(blocks):
        blocks = [block for block, origin in zip(blocks, origins, strict=True) if origin in ("", "user")]
    return "\n".join(filter(None, (words(text_of([block])) for block in blocks)))
