"""What is counted of requests that an engine is sent ahead of the agent."""

from dataclasses import dataclass


@dataclass(slots=True)
class WarmingTally:
    """Sums since the start."""

    sent: int = 0
    """Next requests, sent so that the engine has read them."""
    hits: int = 0
    """Of these, the ones that the agent then went on from."""
    failed: int = 0
    """The engine did not take."""
    seconds: float = 0.0
    """That the engine was at them."""
    outputs: int = 0
    """Tools' outputs, given to an engine that keeps them."""
