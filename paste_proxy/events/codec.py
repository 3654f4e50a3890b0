"""Events as JSON lines, one event a line: `v, ts, session, seq, type` and the event's own fields.

An invocation is written as `tool` and `args`; a field that is None is left out. Unknown fields are
ignored on reading, so that a newer writer may add some.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, dataclass, fields
from typing import Any

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status
from paste_proxy.events.types import (
    CallSealed,
    Event,
    LlmTurn,
    Outcome,
    Refusals,
    Speculation,
    ToolCall,
    ToolOutput,
    TurnStarted,
    UserMessage,
    Why,
)
from paste_proxy.events.values import Json, brief, dumps, loads

VERSION = 1

_CLASSES: dict[str, type[Event]] = {
    "user": UserMessage,
    "turn_started": TurnStarted,
    "call_sealed": CallSealed,
    "llm_turn": LlmTurn,
    "tool_call": ToolCall,
    "tool_output": ToolOutput,
    "speculation": Speculation,
    "refusals": Refusals,
}
_NAMES = {cls: name for name, cls in _CLASSES.items()}


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that holds no event."""

    number: int
    """From 1."""
    reason: str
    torn: bool = False
    """It is the cut last line that a killed writer leaves, not a corrupt one."""


def record_of(event: Event, seq: int) -> dict[str, Json]:
    """The JSON object that stands for an event; `seq` is its position in its session."""
    record: dict[str, Json] = {
        "v": VERSION,
        "ts": event.ts,
        "session": event.session,
        "seq": seq,
        "type": _NAMES[type(event)],
    }
    for field in _own_fields(type(event)):
        value = getattr(event, field)
        if isinstance(value, Invocation):
            record["tool"], record["args"] = value.tool, value.arguments
        elif value is not None:
            record[field] = value
    return record


def dump(record: Json) -> bytes:
    """One line of JSON, with its newline.

    Raises:
        ValueError: the record is not JSON or too deeply nested.
    """
    return dumps(record) + b"\n"


def encode(event: Event, seq: int) -> bytes:
    """The line of an event, with its newline.

    Raises:
        ValueError: a payload is not JSON or too deeply nested.
    """
    return dump(record_of(event, seq))


def decode(line: bytes | str) -> Event:
    """The event of a line.

    Raises:
        ValueError: with what is wrong with the line.
    """
    return event_of(loads(line))[1]


def event_of(record: Json) -> tuple[int, Event]:
    """Position and event of a record.

    Raises:
        ValueError: with the field that is wrong, what it holds and what was expected.
    """
    if not isinstance(record, dict):
        raise ValueError(f"a JSON {type(record).__name__}, expected an object")
    if record.get("v") != VERSION:
        raise ValueError(f"v is {record.get('v')!r}, this program reads {VERSION}")
    cls = _CLASSES.get(str(record.get("type")))
    if cls is None:
        raise ValueError(f"type is {record.get('type')!r}, expected one of {', '.join(_CLASSES)}")
    seq: int = _count(_required(record, "seq"), "seq")
    values: dict[str, Any] = {field.name: _read(record, field.name, field.default) for field in fields(cls)}
    return seq, cls(**values)


def read_lines(lines: Iterable[bytes]) -> Iterator[Event | BadLine]:
    """The events of a log's lines as a file gives them; blank lines are passed over. Raises nothing."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield decode(line)
        except ValueError as fault:
            yield BadLine(number, str(fault), torn=not line.endswith(b"\n"))


def _own_fields(cls: type[Event]) -> list[str]:
    return [field.name for field in fields(cls) if field.name not in ("session", "ts")]


def _required(record: dict[str, Json], key: str) -> Json:
    if key not in record:
        raise ValueError(f"{key} is missing")
    return record[key]


def _read(record: dict[str, Json], name: str, default: object) -> object:
    if name == "invocation":
        arguments = _required(record, "args")
        if not isinstance(arguments, dict):
            raise ValueError(f"args is {brief(arguments, 80)}, expected an object")
        return Invocation(_text(_required(record, "tool"), "tool"), arguments)
    if name == "output":
        return record.get("output")
    value = record.get(name)
    if value is None and (default is None or name == "ts"):
        return None
    if value is None and default is not MISSING:
        return default
    return _READ[name](_required(record, name), name)


def _text(value: Json, name: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name} is {brief(value, 80)}, expected a text")
    return value


def _flag(value: Json, name: str) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{name} is {brief(value, 80)}, expected true or false")
    return value


def _count(value: Json, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{name} is {brief(value, 80)}, expected a whole number")
    return value


def _number(value: Json, name: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ValueError(f"{name} is {brief(value, 80)}, expected a number")
    return value


def _status(value: Json, name: str) -> Status:
    if value not in tuple(Status):
        raise ValueError(f"{name} is {brief(value, 80)}, expected {' or '.join(Status)}")
    return Status(str(value))


def _outcome(value: Json, name: str) -> Outcome:
    if value not in tuple(Outcome):
        raise ValueError(f"{name} is {brief(value, 80)}, expected {', '.join(Outcome)}")
    return Outcome(str(value))


def _why(value: Json, name: str) -> Why:
    if value not in tuple(Why):
        raise ValueError(f"{name} is {brief(value, 80)}, expected {', '.join(Why)}")
    return Why(str(value))


_READ: dict[str, Callable[[Json, str], Any]] = {
    **dict.fromkeys(("session", "text", "model", "call_id", "tool", "source", "reason", "rule"), _text),
    **dict.fromkeys(("complete", "truncated", "shadow", "again", "staged", "rehearsal", "writes"), _flag),
    **dict.fromkeys(("turn", "order", "input_tokens", "output_tokens", "count", "bytes"), _count),
    **dict.fromkeys(("ts", "duration_s", "confidence", "ran_s", "saved_s"), _number),
    **dict.fromkeys(("utility", "benefit_s", "cost", "commit_s", "cpu_s"), _number),
    "status": _status,
    "outcome": _outcome,
    "why": _why,
}
