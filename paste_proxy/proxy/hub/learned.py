"""What sessions have taught, in numbers for people."""

from dataclasses import dataclass

from paste_proxy.mining.forecast.adaptation import Adaptation


@dataclass(frozen=True, slots=True)
class Learned:
    """As it stands; of this place, earlier runs included where they are kept."""

    moments: int = 0
    """Moments of which it was seen what came."""
    habits: int = 0
    """Invocations remembered."""
    demoted: int = 0
    """Patterns whose odds were at least halved."""

    @classmethod
    def of(cls, adaptation: Adaptation) -> "Learned":
        """What an adaptation has learned."""
        return cls(adaptation.moments, adaptation.habits, len(adaptation.demoted()))
