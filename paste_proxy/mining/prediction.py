"""What online prediction gives for one event."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from paste_proxy.events.candidate import Candidate, PreparationHint
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.outline import Outline
from paste_proxy.events.types import Event


@dataclass(frozen=True, slots=True)
class Prediction:
    """Candidates and hints, each list best first. Empty after most events."""

    candidates: tuple[Candidate, ...] = ()
    hints: tuple[PreparationHint, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Barred:
    """What must not be run ahead: it takes no candidate's place."""

    tool: Callable[[str], bool] = lambda tool: False
    """Whether no call of a tool may be."""
    call: Callable[[Invocation], bool] = lambda invocation: False
    """Whether this call may not be; so is every call of such a tool."""
    least: float = 1.0
    """The confidence from which it is told of."""


class SessionPredictor(Protocol):
    """Follows one session and says what it may ask for next."""

    def follow(self, event: Event) -> None:
        """Take an event of the past, after which nothing is to be predicted."""

    def step(self, event: Event) -> Prediction:
        """Take the session's next event. Never changes what the session holds."""

    def end(self) -> None:
        """The session is over."""

    def suppose(self, past: Sequence[Event], latest: Event) -> Prediction:
        """What would be predicted if these happened next; the session stays as it is."""

    def glimpse(self) -> Sequence[Candidate]:
        """There is time: what is as likely as the candidates of the latest step, and must not be run ahead. It is told
        once, so that it can be counted."""

    def look_ahead(self) -> None:
        """There is time: get ready for the answer of the call that the session waits for."""

    def narrow(self, outline: Outline, beside: Collection[str] = ()) -> Prediction:
        """What the call that the LLM is writing may come to be; the session stays as it is.

        Args:
            beside: keys of the calls that its turn asks for beside it.
        """
