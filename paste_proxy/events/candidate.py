"""What prediction hands to speculation."""

from dataclasses import dataclass

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.values import Json

SEALED = "sealed"
"""Source of predictor zero: the call stands complete in the LLM's own stream."""
NARROWED = "narrowed"
"""Source of what follows from a call that the LLM has begun to write."""
FORECAST = "forecast"
"""Source of what a model foresees and no pattern gives."""
MODEL = "model"
"""Source of a speculative LLM's guesses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A fully bound predicted invocation."""

    invocation: Invocation
    confidence: float
    """Probability, 0 to 1, that the session asks for exactly this before the prediction expires."""
    source: str
    """Who predicted it: `SEALED`, `NARROWED`, `FORECAST`, `MODEL` or a pattern's id."""
    expected_s: float | None = None
    """Expected tool time in seconds, where the predictor knows it."""
    depth: int = 1
    """1: predicted from what happened; more: from so many results that nobody has asked for yet, less one."""
    later: float | None = None
    """Probability that it is asked for, but not as the very next call. None: the predictor does not tell them apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparationHint:
    """A prediction whose arguments are not all known: good for warming up, never for running."""

    tool: str
    known: dict[str, Json]
    confidence: float
    source: str
