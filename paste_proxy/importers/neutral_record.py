"""One neutral record as an event, its fields checked."""

from dataclasses import dataclass

from paste_proxy.events.invocation import Invocation, read_arguments
from paste_proxy.events.result import Status
from paste_proxy.events.types import Event, LlmTurn, ToolCall, ToolOutput, UserMessage
from paste_proxy.events.values import Json, brief

_TYPES = ("user", "llm_turn", "tool_call", "tool_output")
_MCP_PREFIX = "mcp__"


@dataclass(frozen=True, slots=True)
class Step:
    """An event at its place in its session, before calls are tied to turns and outputs."""

    seq: int
    event: Event
    turn_id: str | None = None
    """The recording's own mark of the turn, where it has one."""
    neutral: bool = True
    """False: from our own log, already tied."""


def step_of(record: Json) -> Step:
    """The step that a neutral record describes.

    Raises:
        ValueError: with the field that is wrong, what it holds and what was expected.
    """
    if not isinstance(record, dict):
        raise ValueError(f"a JSON {type(record).__name__} instead of an object")
    seq = record.get("seq")
    if not isinstance(seq, int) or isinstance(seq, bool):
        raise ValueError(f"seq is {brief(seq, 80)} instead of a whole number")
    return Step(seq, _event(record), _optional_text(record, "turn_id"))


def _event(record: dict[str, Json]) -> Event:
    session, ts = _text(record, "session"), _seconds(record, "ts")
    match record.get("type"):
        case "user":
            return UserMessage(session=session, ts=ts, text=_said(record))
        case "llm_turn":
            model = _optional_text(record, "agent") or ""
            seconds = _seconds(record, "duration_s")
            return LlmTurn(session=session, ts=ts, text=_said(record), model=model, duration_s=seconds)
        case "tool_call":
            call_id = _optional_text(record, "call_id") or ""
            return ToolCall(session=session, ts=ts, call_id=call_id, invocation=_invocation(record))
        case "tool_output":
            return ToolOutput(
                session=session,
                ts=ts,
                call_id=_optional_text(record, "call_id") or "",
                tool=identity_of(_text(record, "tool")),
                output=record.get("output"),
                status=_status(record),
                duration_s=_seconds(record, "duration_s"),
                truncated=record.get("truncated") is True,
            )
        case other:
            raise ValueError(f"type is {brief(other, 80)} instead of {', '.join(_TYPES)}")


def identity_of(name: str) -> str:
    """The tool's identity: `server/tool` for the spelling `mcp__server__tool` that coding agents record."""
    if not name.startswith(_MCP_PREFIX):
        return name
    server, between, tool = name.removeprefix(_MCP_PREFIX).partition("__")
    return f"{server}/{tool}" if server and between and tool else name


def _invocation(record: dict[str, Json]) -> Invocation:
    arguments = record.get("args")
    if arguments is not None and not isinstance(arguments, str | dict):
        raise ValueError(f"args is {brief(arguments, 80)} instead of an object")
    return Invocation(identity_of(_text(record, "tool")), read_arguments(arguments))


def _status(record: dict[str, Json]) -> Status:
    match record.get("status"):
        case None | "ok":
            return Status.OK
        case "error":
            return Status.ERROR
        case other:
            raise ValueError(f"status is {brief(other, 80)} instead of ok or error")


def _said(record: dict[str, Json]) -> str:
    return _optional_text(record, "output") or ""


def _text(record: dict[str, Json], name: str) -> str:
    value = record.get(name)
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name} is {brief(value, 80)} instead of a text")
    return value


def _optional_text(record: dict[str, Json], name: str) -> str | None:
    value = record.get(name)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{name} is {brief(value, 80)} instead of a text")
    return value


def _seconds(record: dict[str, Json], name: str) -> float | None:
    value = record.get(name)
    if value is not None and (not isinstance(value, int | float) or isinstance(value, bool)):
        raise ValueError(f"{name} is {brief(value, 80)} instead of seconds")
    return value
