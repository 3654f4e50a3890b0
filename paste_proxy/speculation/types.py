"""What the scheduler is told and what it decides.

Calls and jobs are numbered by whoever makes them: calls by the hub, jobs by the scheduler. Times are
seconds of one monotonic clock.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from paste_proxy.events.candidate import Candidate
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.outline import Outline
from paste_proxy.events.result import Status, ToolResult
from paste_proxy.events.types import Outcome, Why


class Mode(StrEnum):
    """How far the sidecar may go; a tool's mode never exceeds the global one."""

    OFF = "off"
    OBSERVE = "observe"
    SPECULATE = "speculate"


class Destination(StrEnum):
    """Who learns of a call: a guess tells of what the agent is about, even one that nobody asks for."""

    LOCAL = "local"
    """Nobody: it stays on this machine."""
    FIRST_PARTY = "first-party"
    """A service that holds the user's own account or data."""
    THIRD_PARTY = "third-party"
    """Anyone else."""


class Reason(StrEnum):
    """Why a candidate was not launched."""

    NOT_EXECUTABLE = "not_executable"
    POLICY = "policy"
    APPROVAL = "approval"
    DESTINATION = "destination"
    MODE = "mode"
    CONFIDENCE = "confidence"
    BENEFIT = "benefit"
    BUDGET = "budget"
    CALLS = "calls"
    MONEY = "money"
    BYTES = "bytes"
    CPU = "cpu"
    WASTE = "waste"
    BACKOFF = "backoff"
    RATE = "rate"
    WRITE_IN_FLIGHT = "write_in_flight"
    DUPLICATE = "duplicate"


# --- told -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted:
    """A predictor spoke. Candidates that nothing can execute are not among them."""

    session: str
    candidates: tuple[Candidate, ...]
    scope: str = ""
    """Through whose connection the call would go; a result never crosses scopes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowed:
    """More became known of the call that the session's LLM is writing, or all of it."""

    session: str
    outline: Outline
    more: float = 0.0
    """Probability that the turn asks for a further call after this one."""
    newly: tuple[Predicted, ...] = ()
    """What is likely in the light of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The agent issued an authoritative call."""

    call: int
    session: str
    invocation: Invocation
    scope: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEnded:
    """An authoritative call that was run came to its end. Status None: abandoned, its end unknown."""

    call: int
    status: Status | None
    result: ToolResult | None = None
    """Its answer, if it is whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEnded:
    """A launched job ended. Result None: a fault of its execution (not of the tool), or cancelled."""

    job: int
    result: ToolResult | None
    retry_after_s: float | None = None
    """The fault was that the service of its tool wants fewer calls, and none for so long (0: it does not say)."""
    aside: bool = False
    """It gave way to all else on the machine as long as no agent waited for it, so that it may have taken longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """A `Commit` is over."""

    job: int
    done: bool
    """Its effects have happened; False: none of them has."""
    changed: bool = True
    """It had some."""
    instead: ToolResult | None = None
    """Only some of them have, which the call is to be told instead of what it would have been served."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobWaits:
    """A launched job waits for its connection to open; its call has not been sent."""

    job: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSent:
    """The connection of a job that waited for it is open; its call is sent now."""

    job: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectBegan:
    """A call that does not pass through us may start to have its effect (seen in the LLM's stream)."""

    session: str
    call_id: str
    invocation: Invocation
    or_else: Invocation | None = None
    """A tool of the client's own that the same name may mean; it counts too if a rule names it."""
    held: bool = False
    """It may be one of ours as well, whose effects can be held back. What the client's own tool changes instead is
    found by the proof before a commit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectEnded:
    """The call of an `EffectBegan` is over."""

    session: str
    call_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnded:
    """A session is over; its jobs are discarded."""

    session: str


@dataclass(frozen=True, slots=True)
class ObservationLost:
    """Events were dropped, so a write may have passed unseen: every result is void."""


@dataclass(frozen=True, slots=True)
class Today:
    """The calendar shows this day; told from time to time, for budgets of a day."""

    day: str
    """As `2026-12-31`."""


@dataclass(frozen=True, slots=True)
class Tick:
    """Time passed."""


Told: TypeAlias = (
    Predicted
    | Narrowed
    | Asked
    | CallEnded
    | JobEnded
    | Committed
    | JobWaits
    | JobSent
    | EffectBegan
    | EffectEnded
    | SessionEnded
    | ObservationLost
    | Today
    | Tick
)


# --- decided --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """Start a speculative job."""

    job: int
    session: str
    candidate: Candidate
    scope: str
    staged: bool = False
    """Its effects are held back until a `Commit`."""
    rehearsal: bool = False
    """It is a call in a changed form, and its result answers nobody."""

    @property
    def invocation(self) -> Invocation:
        """What is run."""
        return self.candidate.invocation


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancel:
    """Stop a running job, upstream too; let go of what a staged one holds back."""

    job: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Run the authoritative call normally."""

    call: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Serve:
    """Answer the authoritative call with a job's result."""

    call: int
    job: int
    result: ToolResult
    outcome: Outcome
    took_s: float
    """How long the agent would have waited for the tool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Promote:
    """The call waits for a running job; `Serve` or `Run` for it will follow."""

    call: int
    job: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """Let the effects of a staged job happen, for the call that waits; `Committed` is to be told."""

    call: int
    job: int
    result: ToolResult
    """What the call will be served."""
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """A job came to one of the four outcomes."""

    job: int
    session: str
    invocation: Invocation
    source: str
    confidence: float
    outcome: Outcome
    ran_s: float
    saved_s: float
    shadow: bool
    """Nothing ran: `observe` mode's account of what would have been."""
    why: Why | None = None
    """Of one that came to nothing."""
    rule: str = ""
    """The place of the rule that allowed it."""
    utility: float = 0.0
    """As it was when it was launched, like the next."""
    benefit_s: float = 0.0
    cost: float = 0.0
    again: bool = False
    """Nothing ran: an answer that the agent was given served again."""
    staged: bool = False
    rehearsal: bool = False
    """It was a call in a changed form."""
    commit_s: float | None = None
    """Seconds that its effects took to happen."""
    bytes: int | None = None
    """Of its result, if it came to one."""
    cpu_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A candidate was not launched when it was predicted; for want of room it may be later."""

    session: str
    invocation: Invocation
    source: str
    reason: Reason
    confidence: float = 0.0
    limit: str = ""
    """The bound that stands against it, as it is configured."""
    rule: str = ""
    """The place of the rule that speaks about it; empty where none does."""
    writes: bool = False
    """It may change something."""


Command: TypeAlias = Launch | Cancel | Run | Serve | Promote | Commit | Settled | Refused
