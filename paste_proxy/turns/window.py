"""A stretch of time of an engine, and what it did in it."""

from dataclasses import dataclass

_LONG_S = 0.5
"""What is measured over less says little."""


@dataclass(slots=True)
class Window:
    """Sums over some seconds."""

    seconds: float = 0.0
    tokens: float = 0.0
    """Of answers."""
    writing_s: float = 0.0
    """Turn-seconds of turns whose answers were being written."""
    prompts: float = 0.0
    """Tokens of prompts that were worked off."""
    context_s: float = 0.0
    """Tokens of the contexts of all turns in the engine, times seconds."""
    pressure_s: float = 0.0
    wanted_s: float = 0.0
    """Seconds in which turns waited."""

    def passed(self, seconds: float, pressure: float, writing: int, context: float, *, wanted: bool) -> None:
        """Time has passed.

        Args:
            writing: turns whose answers were being written.
            context: tokens of the contexts of all turns in the engine.
            wanted: whether turns waited.
        """
        self.seconds += seconds
        self.pressure_s += seconds * pressure
        self.writing_s += seconds * writing
        self.context_s += seconds * context
        self.wanted_s += seconds if wanted else 0.0

    @property
    def full(self) -> bool:
        """Whether it is long enough to be looked at."""
        return self.seconds >= _LONG_S

    @property
    def pressure(self) -> float:
        """On average."""
        return self.pressure_s / self.seconds if self.seconds else 0.0

    @property
    def writing(self) -> float:
        """Turns that were being written, on average."""
        return self.writing_s / self.seconds if self.seconds else 0.0

    @property
    def context(self) -> float:
        """Tokens of contexts, on average."""
        return self.context_s / self.seconds if self.seconds else 0.0

    @property
    def token_s(self) -> float:
        """Seconds from one token of a turn to its next; 0 if there were none."""
        return self.writing_s / self.tokens if self.tokens else 0.0

    @property
    def prompts_beside(self) -> float:
        """Tokens of prompts that were worked off while each turn got one of its answer."""
        return self.prompts * self.token_s / self.seconds if self.seconds else 0.0
