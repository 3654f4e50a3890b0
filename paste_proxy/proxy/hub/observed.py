"""What the edges put into the hub's inbox."""

import asyncio
from dataclasses import dataclass
from typing import TypeAlias

from paste_proxy.events.result import ToolResult
from paste_proxy.events.values import Json
from paste_proxy.proxy.hub.reading import Reading
from paste_proxy.proxy.hub.thinking import Foreseen
from paste_proxy.proxy.ports import AgentCall, Decision, Waiting
from paste_proxy.speculation.types import Committed, JobEnded, JobSent, ObservationLost
from paste_proxy.speculators.guess import Guessed
from paste_proxy.turns.types import EngineLoad, RateLimits
from paste_proxy.wire.types import SeenCall, SeenPart, TurnEnd


@dataclass(slots=True, eq=False)
class Exchange:
    """One LLM request and its answer; the hub fills in where it belongs."""

    session: str = ""
    turn: int = 0
    point: bytes = b""
    """Names the request's history among those of its session."""
    waiting: Waiting | None = None
    """Its place before a gate; None: it has none."""
    number: int = 0
    """By which the gate knows it; 0: it does not."""
    admitted_at: float = 0.0
    """Monotonic, of one that stood before a gate."""
    pieces: int = 0
    """Of the answer, as it was streamed; for most engines each is a token."""
    told: int = 0
    """Tokens of it that its gate was told of."""


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
class RequestUnread:
    """A request that stands before a gate could not be read: nobody knows whose turn it is."""

    exchange: Exchange


@dataclass(frozen=True, slots=True)
class AnswerBegins:
    """The first of the answer has come, of a turn that was admitted."""

    exchange: Exchange


@dataclass(frozen=True, slots=True)
class ExchangeOver:
    """A turn that stood before a gate is answered, or its agent has gone."""

    exchange: Exchange


@dataclass(frozen=True, slots=True)
class LimitsSeen:
    """An answer told of the limits of its key."""

    exchange: Exchange
    limits: RateLimits


@dataclass(frozen=True, slots=True)
class AnswerNamed:
    """An answer that is being written has said its id, on a route that gives its engine tools' outputs."""

    exchange: Exchange
    response_id: str
    tools: tuple[str, ...]
    """The names that the request offers."""


@dataclass(slots=True, eq=False)
class OutputTold:
    """Somebody says what a tool gave for a call of the answer `response_id`."""

    response_id: str
    name: str
    arguments: dict[str, Json] | None
    """None: whatever they are."""
    output: str
    keep_alive_s: float
    done: "asyncio.Future[bool]"
    """Whether it was of use, or may yet be."""
    kept: bool = False


@dataclass(frozen=True, slots=True)
class EngineHeard:
    """It is time to tell an engine's gate what was given, and what the engine says of its load."""

    engine: str
    load: EngineLoad | None
    """None: it says nothing, or could not be asked."""


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
    | RequestUnread
    | AnswerBegins
    | ExchangeOver
    | LimitsSeen
    | EngineHeard
    | AnswerNamed
    | OutputTold
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
