"""What the co-scheduler of one engine is told, and what it commands.

Turns are numbered by whoever tells of them. Times are seconds of one monotonic clock, and lengths are tokens.
"""

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFacts:
    """What is known of a turn before the engine sees it."""

    session: str
    prompt_tokens: float
    cached_tokens: float = 0.0
    """Of these, the ones that the session's last turn left in the engine."""
    output_tokens: float
    """What it may come to."""
    turns_before: int = 0
    """Of its session; before the first one it is cold."""
    realized_s: float = 0.0
    """Tool time saved since the session's last turn: what to wait here would burn."""
    future_s: float = 0.0
    """Tool time that may be hidden behind this turn once it runs: of what is likely to be asked for after it."""
    tool_wait_s: float = 0.0
    """What its session waited for tools after each of its turns, on average."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineLoad:
    """What an engine says of itself; None: it does not."""

    running: float
    """Turns in its batch."""
    waiting: float = 0.0
    """Turns in its own queue."""
    kv_used: float | None = None
    """Share of its KV cache, 0 to 1."""
    cache_hits: float | None = None
    """Share of prompt tokens that it found in its cache lately, 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What a service still takes of one thing, requests or tokens, as of one answer."""

    limit: float | None = None
    """In all, per its own span of time."""
    remaining: float | None = None
    reset_s: float | None = None
    """Seconds until all of it is there again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimits:
    """What an answer tells of the limits of its key."""

    requests: Allowance = Allowance()
    tokens: Allowance = Allowance()
    """Of prompts and answers together."""
    input_tokens: Allowance = Allowance()
    output_tokens: Allowance = Allowance()
    refused: bool = False
    """The turn was not served, since there were too many."""
    retry_after_s: float | None = None
    """Of one that was refused: it may be asked again after so long. None: not told."""


# --- told -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnReady:
    """An agent asks for a turn."""

    turn: int
    facts: TurnFacts
    patience_s: float | None = None
    """After so long it is to be turned away; None: it waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnPlaced:
    """It is known by now whose turn it is, of one that was admitted before."""

    turn: int
    facts: TurnFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnWrites:
    """The first of a turn's answer has come: its prompt is worked off."""

    turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOver:
    """A turn is answered, or its agent has gone: before it was admitted, or after."""

    turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOver:
    """No turn of a session follows."""

    session: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Produced:
    """What the engine has given to all turns since this was told last."""

    tokens: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The engine was asked for its load."""

    load: EngineLoad | None
    """None: it did not say, and what it said before is true no longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limited:
    """The answer to a turn told of the limits of its key."""

    turn: int
    limits: RateLimits


@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed."""


Told: TypeAlias = TurnReady | TurnPlaced | TurnWrites | TurnOver | SessionOver | Produced | Measured | Limited | Tick


# --- commanded ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Admit:
    """Let the engine have the turn."""

    turn: int
    waited_s: float
    late: bool = False
    """It goes because it has waited as long as any may, whatever the load."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnAway:
    """Its agent is to come again."""

    turn: int
    retry_after_s: float


Command: TypeAlias = Admit | TurnAway
