"""OpenTelemetry traces of agents: LLM calls, tool runs and agents as spans.

A session is a conversation (`gen_ai.conversation.id`, `session.id`), else a trace; an agent that was called
within another is a session of its own. Calls are what LLM spans say that the LLM asked for; tool spans tell
how long they ran and what came. Where the content of messages was not recorded, a tool span that has its
arguments is call and output, and one without them says too little and is left out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from paste_proxy.events.values import Json
from paste_proxy.importers.files import numbered_lines
from paste_proxy.importers.neutral import RecordedSession
from paste_proxy.importers.otel_content import Said, answered, heard
from paste_proxy.importers.otel_doing import Doing, Kind, kind_of
from paste_proxy.importers.otel_session import Played
from paste_proxy.importers.otel_span import Span, is_span, spans_of
from paste_proxy.importers.records import GOES_ON, Corrupt, document, records
from paste_proxy.wire.loose import mapping, string

_CONVERSATIONS = ("gen_ai.conversation.id", "session.id", "traceloop.association.properties.session_id")
_EXPORTS = ("resourceSpans", "resource_spans", "resourceLogs")
_DEEPEST = 1_000
"""Spans above a span that are looked at."""


def read(files: Sequence[Path], corrupt: Corrupt) -> Iterator[RecordedSession]:
    """The sessions of exported traces; a trace may be spread over files.

    Raises:
        InputFault: for a file, or a line of one, that is no JSON (unless skipped).
    """
    traces = _Traces()
    for path in files:
        for record in _records(path, corrupt):
            for span in spans_of(record):
                traces.add(span, str(path))
    for session, doings in traces.sessions().items():
        yield from Played(session, doings[0].source).play(doings)


def recognises(record: dict[str, Json]) -> bool:
    """Whether a record is an export of spans, or a span."""
    return any(name in record for name in _EXPORTS) or is_span(record)


def _records(path: Path, corrupt: Corrupt) -> Iterator[dict[str, Json]]:
    first = next((line.strip() for _, line in numbered_lines(path)), b"")
    if first.startswith(b"[") or first.endswith(GOES_ON):
        whole = document(path, corrupt)
        yield from map(mapping, whole if isinstance(whole, list) else [whole])
        return
    for _, record in records(path, corrupt):
        yield record


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a span stands among others."""

    parent: str
    agent: bool
    conversation: str


class _Traces:
    """Spans as they come, kept only as what they did: an LLM span repeats the whole history before it."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, str], _Place] = {}
        self._doings: list[Doing] = []
        self._noted: dict[tuple[str, str], tuple[list[Said], list[Said]]] = {}
        """What was logged under spans."""

    def add(self, span: Span, source: str) -> None:
        """Take a span, or what was logged under one."""
        kind, key = kind_of(span), (span.trace, span.id)
        if not span.attributes and span.events:
            asked, said = self._noted.setdefault(key, ([], []))
            if span.name == "gen_ai.assistant.message":
                asked.clear()  # what stood before it is not new
            asked += heard(span)
            said += answered(span)
            return
        told = (string(span.attributes.get(name)) for name in _CONVERSATIONS)
        self._places[key] = _Place(span.parent, kind is Kind.AGENT, next(filter(None, told), ""))
        if kind in (Kind.LLM, Kind.TOOL):
            self._doings.append(Doing.of(span, kind, source))

    def sessions(self) -> dict[str, list[Doing]]:
        """What was done in each session."""
        found: dict[str, list[Doing]] = {}
        for doing in self._doings:
            if not doing.heard and not doing.said:
                doing.heard, doing.said = self._noted.get((doing.trace, doing.id), ([], []))
            found.setdefault(self._session(doing), []).append(doing)
        return found

    def _session(self, doing: Doing) -> str:
        conversation, agents, at = "", list[str](), (doing.trace, doing.id)
        for _ in range(_DEEPEST):
            place = self._places.get(at)
            if place is None:
                break
            conversation = conversation or place.conversation
            if place.agent:
                agents.append(at[1])
            at = (doing.trace, place.parent)
        session = conversation or doing.trace
        return f"{session}/{agents[0]}" if len(agents) > 1 else session
