"""What the guesser is told and what it decides. Samples are numbered by the guesser; times are seconds of
one monotonic clock.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from paste_proxy.events.candidate import Candidate
from paste_proxy.events.invocation import Invocation


class SampleEnd(StrEnum):
    """How the asking for one sample ended."""

    ANSWERED = "answered"
    """Also without a call, or with one that cannot be read."""
    STOPPED = "stopped"
    """Cancelled, since nobody needs it any more."""
    TIMED_OUT = "timed_out"
    FAILED = "failed"
    """The endpoint could not be reached or refused."""


# --- told -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOpened:
    """An LLM request whose call would be of use."""

    session: str
    turn: int
    prompt_tokens: int
    """About how many tokens a sample reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """A sample asked for came to its end; told exactly once for each `Ask`."""

    sample: int
    end: SampleEnd
    calls: tuple[Invocation, ...] = ()
    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetCalled:
    """A call of the agent's own LLM stands complete in its stream; told again where its arguments grew."""

    session: str
    turn: int
    order: int
    invocation: Invocation


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnClosed:
    """The agent's LLM has answered; of one that is not complete nothing is learned."""

    session: str
    turn: int
    complete: bool


@dataclass(frozen=True, slots=True)
class ToolRan:
    """A tool call of the agent's took so long."""

    seconds: float


@dataclass(frozen=True, slots=True)
class SessionLeft:
    """A session is over."""

    session: str


Heard: TypeAlias = TurnOpened | Sampled | TargetCalled | TurnClosed | ToolRan | SessionLeft


# --- decided --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask the speculative LLM for this turn, once."""

    sample: int


@dataclass(frozen=True, slots=True)
class Stop:
    """Cancel the asking for a sample, upstream too; `Sampled` follows all the same."""

    sample: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggest:
    """Calls that the session may ask for, new ones or ones grown likelier; likeliest first."""

    session: str
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A turn that samples were answered for is over: how many of the calls guessed it asked for."""

    right: int
    wrong: int


Decided: TypeAlias = Ask | Stop | Suggest | Judged
