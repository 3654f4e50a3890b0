"""What the parts of the scheduler share: the rules, the tables, and what was learned."""

from collections import Counter
from collections.abc import Mapping
from itertools import count

from paste_proxy.speculation.effects import Effects
from paste_proxy.speculation.lanes import Lane
from paste_proxy.speculation.ledger import Ledger, Place
from paste_proxy.speculation.limits import ServerCapacity, SpeculationLimits
from paste_proxy.speculation.matching import Matching
from paste_proxy.speculation.policy import Policy
from paste_proxy.speculation.types import Mode
from paste_proxy.speculation.utility import Experience
from paste_proxy.speculation.waiting import Waiting


class State:
    """The one copy of everything that more than one part looks at."""

    def __init__(
        self, policy: Policy, limits: SpeculationLimits, mode: Mode, capacities: Mapping[str, ServerCapacity]
    ) -> None:
        self.policy, self.limits, self.mode = policy, limits, mode
        self.effects = Effects()
        self.experience = Experience()
        self.ledger = Ledger(held_results=limits.held_results, held_bytes=limits.held_bytes)
        self.matching = Matching(policy, self.ledger)
        self.waiting = Waiting()
        self.asked: Counter[Place] = Counter()
        """The authoritative calls in flight."""
        self.job_numbers = count(1)
        self.slots_freed = 0
        """Moves when an authoritative call leaves a slot of a server that has only so many."""
        self._lanes = {server: Lane(server, capacity) for server, capacity in capacities.items()}

    @property
    def vacancies(self) -> int:
        """Moves when a candidate that found no room may find some."""
        return self.ledger.left + self.effects.over + self.slots_freed

    def lane(self, server: str) -> Lane:
        """The slots of a server; one without bounds needs no memory of them."""
        return self._lanes.get(server) or Lane(server, ServerCapacity())
