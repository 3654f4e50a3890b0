"""What the edges put into the hub's inbox."""

import asyncio
from dataclasses import dataclass
from typing import TypeAlias

from paste_proxy.events.result import ToolResult
from paste_proxy.proxy.hub.reading import Reading
from paste_proxy.proxy.hub.thinking import Foreseen
from paste_proxy.proxy.ports import AgentCall, Decision
from paste_proxy.speculation.types import Committed, JobEnded, JobSent, ObservationLost
from paste_proxy.speculators.guess import Guessed
from paste_proxy.wire.types import SeenCall, SeenPart, TurnEnd


@dataclass(slots=True, eq=False)
class Exchange:
    """One LLM request and its answer; the hub fills in where it belongs."""

    session: str = ""
    turn: int = 0
    point: bytes = b""
    """Names the request's history among those of its session."""


@dataclass(frozen=True, slots=True)
class RequestSeen:
    """An LLM request was read."""

    exchange: Exchange
    reading: Reading
    header: str | None
    """Session id from a header."""
    ahead: bool = True
    """Whether anything may be run ahead for its session from now on."""


@dataclass(frozen=True, slots=True)
class CallSeen:
    """A tool call stands complete in the stream."""

    exchange: Exchange
    call: SeenCall


@dataclass(frozen=True, slots=True)
class PartSeen:
    """A tool call is being written; nothing rests on its being noticed."""

    exchange: Exchange
    part: SeenPart


@dataclass(frozen=True, slots=True)
class AnswerSeen:
    """The answer ended."""

    exchange: Exchange
    end: TurnEnd
    duration_s: float
    unread: bool = False
    """It may have held calls that nobody saw."""


@dataclass(slots=True, eq=False)
class ToolAsked:
    """A tool route asks for a decision."""

    call: AgentCall
    ticket: int
    reply: "asyncio.Future[Decision]"
    taken: bool = False
    """The hub has taken it up; one that is given up before is no call at all."""


@dataclass(frozen=True, slots=True)
class ToolAnswered:
    """A call that was run is over; result None: abandoned or broken."""

    ticket: int
    result: ToolResult | None


@dataclass(frozen=True, slots=True)
class Tunnel:
    """A connection whose turns cannot be read opened or closed."""

    number: int
    open: bool


@dataclass(frozen=True, slots=True)
class ScopeGone:
    """A connection closed."""

    scope: str


Observed: TypeAlias = (
    RequestSeen
    | PartSeen
    | CallSeen
    | AnswerSeen
    | ToolAsked
    | ToolAnswered
    | ScopeGone
    | Tunnel
    | JobEnded
    | Committed
    | JobSent
    | Foreseen
    | Guessed
    | ObservationLost
)
