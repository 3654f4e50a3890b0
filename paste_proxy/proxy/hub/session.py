"""What the hub holds about one agent session, and how a tool call finds the turn that asked for it.

Pairing is by session, turn and order; a call id helps only together with an equal invocation, since
some engines give every turn's first call the same id.
"""

from dataclasses import dataclass, field

from paste_proxy.events.invocation import Invocation
from paste_proxy.mining.prediction import SessionPredictor

_FURTHER, _OF = 0.5, 2.0
"""Before any turn was seen: of so many calls, so many were followed by another in their turn."""
_TURNS_REMEMBERED = 8
"""How many turns a call that nobody answered stays open; clients that drop outputs would pile them up."""


@dataclass(slots=True, eq=False)
class AskedCall:
    """A call that a turn of the session asked for."""

    turn: int
    order: int
    call_id: str
    invocation: Invocation
    claimed: bool = False
    """A tool route has taken it."""
    answered: bool = False
    effect: str | None = None
    """Reference of an effect that began when the call was seen and has not ended."""


@dataclass(slots=True, eq=False)
class AgentSession:
    """One agent task."""

    id: str
    predictor: SessionPredictor
    started: float
    seen: float
    """Monotonic time of the last sign of life."""
    turn: int = 0
    calls: list[AskedCall] = field(default_factory=list)
    """Calls of the latest turn, and those of earlier ones still unanswered."""
    scopes: dict[str, str] = field(default_factory=dict)
    """Server -> scope of the connection this session calls it through."""
    prefixes: bool = False
    """Its client puts servers' names before their tools'."""
    ahead: bool = True
    """Whether anything may be run ahead for it."""
    tool_calls: int = 0
    exposed_s: float = 0.0
    saved_s: float = 0.0
    llm_s: float = 0.0
    _asked: int = 0
    """Calls that its turns asked for."""
    _further: int = 0
    """Those of them that followed another in their turn."""

    @property
    def further(self) -> float:
        """Probability that after one call its turn asks for another."""
        return (self._further + _FURTHER) / (self._asked + _OF)

    def begin_turn(self) -> list[AskedCall]:
        """A new LLM request: number it; gives the calls too old to be answered or claimed any more."""
        self.turn += 1
        oldest = self.turn - _TURNS_REMEMBERED
        stale = [call for call in self.calls if call.turn < oldest]
        self.calls = [call for call in self.calls if call.turn >= oldest and not call.answered]
        return stale

    def asked(self, call: AskedCall) -> AskedCall | None:
        """Note a call seen in the LLM's answer; gives the one it replaces, where its arguments had grown."""
        for position, known in enumerate(self.calls):
            if (known.turn, known.order) == (call.turn, call.order):
                self.calls[position] = call
                return known
        self.calls.append(call)
        self._asked += 1
        self._further += call.order > 0
        return None

    def claim(self, invocation: Invocation, call_id: str | None) -> AskedCall | None:
        """The asked call that this tool call is: equal invocation, same id if it can be; latest turn, in order."""
        free = [call for call in self.calls if not call.claimed and call.invocation == invocation]
        if not free:
            return None
        chosen = min(free, key=lambda call: (call_id is not None and call.call_id != call_id, -call.turn, call.order))
        chosen.claimed = True
        return chosen

    def alone(self, call: AskedCall) -> bool:
        """Whether its turn asks for nothing else."""
        return all(other is call or other.turn != call.turn for other in self.calls)

    def answer(self, call_id: str) -> AskedCall | None:
        """The unanswered, unclaimed call with this id, now answered: the agent ran it past the sidecar.

        Where an id stands for several calls, of the latest turn the first in order.
        """
        free = [call for call in self.calls if call.call_id == call_id and not call.claimed and not call.answered]
        if not free:
            return None
        chosen = min(free, key=lambda call: (-call.turn, call.order))
        chosen.answered = True
        return chosen

    def claimed(self, call_id: str) -> bool:
        """Whether a tool route took the call with this id."""
        return any(call.claimed and call.call_id == call_id for call in self.calls)

    def expects(self, invocation: Invocation, call_id: str | None) -> bool:
        """Whether a turn of this session asked for this and no tool call has claimed it."""
        return any(
            call.invocation == invocation and not call.claimed and call_id in (None, call.call_id)
            for call in self.calls
        )
