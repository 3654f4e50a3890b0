"""Recorded sessions as mining takes them: without secrets, and without calls that name no tool.

Whoever recorded them may have left their secrets in; what several sessions share goes into a pool, and a pool goes to
others. They are taken out as our own recorder does it. A stand-in equals itself, so that what is taken over from one
place to another is learned all the same; but it is no value that a tool could be asked with, so nothing that holds one
goes into a pool.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.redaction import MARK, Redactor
from paste_proxy.events.types import CallSealed, Event, LlmTurn, ToolCall, ToolOutput, UserMessage
from paste_proxy.events.values import Json, canonical_text
from paste_proxy.mining.groups import Recorded

_MARK = MARK.lower()


@dataclass(frozen=True, slots=True)
class _Session:
    id: str
    source: str
    events: Sequence[Event]


def cleaned(sessions: Sequence[Recorded]) -> list[Recorded]:
    """The sessions, each with the events that are left of it; the same ones always become the same."""
    redactor = Redactor(_key(sessions))
    return [_Session(session.id, session.source, list(_clean(session.events, redactor))) for session in sessions]


def public(value: Json) -> bool:
    """Whether a value of cleaned sessions may go to others: no secret stood in it."""
    return _MARK not in (value if isinstance(value, str) else canonical_text(value)).lower()


def _key(sessions: Iterable[Recorded]) -> bytes:
    """Made of what was said in them: whoever does not know that learns nothing from a stand-in."""
    said = blake2b(digest_size=32)
    for session in sessions:
        for event in session.events:
            if isinstance(event, UserMessage | LlmTurn):
                said.update(event.text.encode("utf-8", "surrogatepass"))
    return said.digest()


def _clean(events: Iterable[Event], redactor: Redactor) -> Iterable[Event]:
    for event in events:
        if isinstance(event, ToolCall) and not event.invocation.tool:
            continue
        try:
            yield _redacted(event, redactor)
        except ValueError:  # nested too deeply: our own recorder would have lost it
            continue


def _redacted(event: Event, redactor: Redactor) -> Event:
    match event:
        case UserMessage() | LlmTurn():
            text = redactor.text(event.text)
            return event if text == event.text else replace(event, text=text)
        case ToolCall() | CallSealed():
            call = event.invocation
            arguments = redactor.value(call.arguments)
            assert isinstance(arguments, dict)
            return event if arguments == call.arguments else replace(event, invocation=Invocation(call.tool, arguments))
        case ToolOutput():
            output = redactor.value(event.output)
            return event if output == event.output else replace(event, output=output)
    return event
