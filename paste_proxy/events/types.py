"""The events of a session.

`ts` is in seconds since the epoch; None where a recorded session has no clock.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status
from paste_proxy.events.values import Json


class Outcome(StrEnum):
    """The four ends of a speculative job; only the first two ever commit."""

    REUSED = "reused"
    PROMOTED = "promoted"
    DISCARDED = "discarded"
    PREEMPTED = "preempted"


class Why(StrEnum):
    """Why a speculative job came to nothing."""

    UNASKED = "unasked"
    """Nobody asked for it in its time."""
    STALE = "stale"
    """What it reads was written, or may have been."""
    ERROR = "error"
    """Its tool answered with an error."""
    FAULT = "fault"
    """It could not be run, or broke off."""
    TOO_BIG = "too_big"
    """Its result is larger than one that is kept."""
    NO_ROOM = "no_room"
    """Other results took its place."""
    BETTER = "better"
    """A more useful job took its slot."""
    SLOT = "slot"
    """The agent's own call took its slot."""
    UNLIKELY = "unlikely"
    """What the LLM was writing made it so."""
    CONNECTING = "connecting"
    """The agent asked while its own connection was still opening."""
    COMMIT = "commit"
    """The effects that it held back could not happen."""
    UNFIT = "unfit"
    """The call that waited for it cannot be answered from its result."""
    OVER = "over"
    """Its session ended."""
    REHEARSED = "rehearsed"
    """It was run in a changed form, and has done all it could when the call came that it was for."""
    UNSEEN = "unseen"
    """Something was not observed, so that anything may have been written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMessage:
    """A person (or a program in that role) said something to the agent."""

    session: str
    ts: float | None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStarted:
    """An LLM request went out."""

    session: str
    ts: float | None
    turn: int
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSealed:
    """A tool call became complete in the LLM's stream."""

    session: str
    ts: float | None
    turn: int
    order: int
    """Position among the calls of its turn, from 0."""
    call_id: str
    invocation: Invocation


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmTurn:
    """An LLM turn ended."""

    session: str
    ts: float | None
    text: str
    model: str = ""
    turn: int = 0
    complete: bool = True
    """False if the stream was cut or the turn ended for length: nothing of it is mined or run."""
    duration_s: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """The agent asked for a tool: an authoritative call."""

    session: str
    ts: float | None
    call_id: str
    invocation: Invocation
    turn: int | None = None
    """The turn that asked for it, where known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutput:
    """A tool call was answered."""

    session: str
    ts: float | None
    call_id: str
    tool: str
    output: Json
    status: Status
    duration_s: float | None = None
    """Seconds the tool took, whether the session waited for all of it or not."""
    truncated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Speculation:
    """A speculative job came to its end."""

    session: str
    ts: float | None
    invocation: Invocation
    source: str
    confidence: float
    outcome: Outcome
    ran_s: float
    """Seconds the job ran."""
    saved_s: float
    """Exposed tool seconds it took off the session; 0 unless reused or promoted."""
    shadow: bool = False
    """True in `observe` mode: nothing ran, the figures say what would have been."""
    why: Why | None = None
    """Of one that came to nothing."""
    rule: str | None = None
    """The place of the policy's rule that allowed it."""
    utility: float | None = None
    """Why it was admitted: seconds likely to be hidden, for a second of its slot."""
    benefit_s: float | None = None
    """Seconds likely to be hidden."""
    cost: float | None = None
    """In money, where the rule says so."""
    again: bool = False
    """Nothing ran: an answer that the agent was given served again."""
    staged: bool = False
    """Its effects were held back."""
    rehearsal: bool = False
    """It was the call in a changed form, run to get ready for it; the result was thrown away."""
    commit_s: float | None = None
    """Seconds that they took to happen."""
    bytes: int | None = None
    """Of its result, if it came to one."""
    cpu_s: float | None = None
    """CPU seconds that it took, where that is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusals:
    """Candidates alike that were not run ahead, within about a minute before."""

    session: str
    ts: float | None
    tool: str
    reason: str
    rule: str
    """The place of the policy's rule that speaks about them; empty where none does."""
    count: int
    writes: bool
    """They may have changed something."""


Event: TypeAlias = UserMessage | TurnStarted | CallSealed | LlmTurn | ToolCall | ToolOutput | Speculation | Refusals
