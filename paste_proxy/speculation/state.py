"""What the parts of the scheduler share: the rules, the tables, and what was learned."""

from collections import Counter
from collections.abc import Mapping
from itertools import count

from paste_proxy.events.result import ToolResult
from paste_proxy.events.types import Outcome, Why
from paste_proxy.speculation.budgets.budgets import BudgetLimits, Budgets
from paste_proxy.speculation.budgets.limited import Limited
from paste_proxy.speculation.lanes import Lane
from paste_proxy.speculation.ledger import Job, Ledger, Place
from paste_proxy.speculation.limits import ServerCapacity, SpeculationLimits
from paste_proxy.speculation.matching import Matching
from paste_proxy.speculation.policy import Policy
from paste_proxy.speculation.types import JobEnded, Mode, Settled
from paste_proxy.speculation.utility import Experience
from paste_proxy.speculation.waiting import Waiting
from paste_proxy.speculation.writes import Writes


class State:
    """The one copy of everything that more than one part looks at."""

    def __init__(
        self,
        policy: Policy,
        limits: SpeculationLimits,
        mode: Mode,
        capacities: Mapping[str, ServerCapacity],
        budget: BudgetLimits,
    ) -> None:
        self.policy, self.limits, self.mode = policy, limits, mode
        allotments = {rule.place: rule.allotment for rule in policy.rules}
        self.budgets = Budgets(budget, allotments)
        self.shadow_budgets = Budgets(budget, allotments)
        """What would be used: jobs that are only accounted for take nothing of the real ones."""
        self.writes = Writes()
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
        return self.ledger.left + self.writes.over + self.slots_freed

    def budgets_of(self, *, shadow: bool) -> Budgets:
        """What jobs of a kind are charged to."""
        return self.shadow_budgets if shadow else self.budgets

    def called(self, rule: str, now: float) -> None:
        """A call of the agent's own goes out, under the rule of that place."""
        for budgets in (self.budgets, self.shadow_budgets):
            budgets.called(rule, now)

    def answered(self, tool: str, result: ToolResult, now: float) -> None:
        """A tool has answered."""
        for budgets in (self.budgets, self.shadow_budgets):
            budgets.answered(tool, result, now)

    def job_ended(self, job: Job, told: JobEnded, now: float) -> None:
        """A job ran to its end."""
        if told.result is not None:
            self.budgets.ended(job.session, told.result)
            self.answered(job.invocation.tool, told.result, now)
        elif told.retry_after_s is not None:
            for budgets in (self.budgets, self.shadow_budgets):
                budgets.limited(job.invocation.tool, Limited(told.retry_after_s or None), now)

    def settled(self, settled: Settled, now: float) -> None:
        """A job came to one of its outcomes."""
        if settled.outcome not in (Outcome.REUSED, Outcome.PROMOTED) and settled.why is not Why.REHEARSED:
            self.budgets_of(shadow=settled.shadow).wasted(settled.ran_s, now)

    def lane(self, server: str) -> Lane:
        """The slots of a server; one without bounds needs no memory of them."""
        return self._lanes.get(server) or Lane(server, ServerCapacity())
