"""A speculative LLM as the conductor knows it, and what it has in its place where there is none."""

from typing import Protocol

from paste_proxy.events.types import Event
from paste_proxy.proxy.hub.observed import RequestSeen
from paste_proxy.speculation.types import Predicted
from paste_proxy.speculators.guess import Guessed


class Guesses(Protocol):
    """Is told what happens and says what may be run ahead."""

    def opened(self, item: RequestSeen) -> None:
        """An LLM request was placed: ask about its turn if that may help."""

    def happened(self, event: Event) -> None:
        """An event of a session's present."""

    def guessed(self, item: Guessed) -> list[Predicted]:
        """A sample came to its end; what is to be run ahead now."""

    def left(self, session: str) -> None:
        """A session is over."""


class NoGuesses:
    """Nobody is asked."""

    def opened(self, item: RequestSeen) -> None:
        """Nothing follows."""

    def happened(self, event: Event) -> None:
        """Nothing follows."""

    def guessed(self, item: Guessed) -> list[Predicted]:
        """Nothing follows."""
        return []

    def left(self, session: str) -> None:
        """Nothing follows."""
