"""What was missed by a rule or a bound, as conversations with the scheduler, and what would allow it."""

from paste_proxy.events.result import Status
from paste_proxy.speculation.budgets.budgets import BudgetLimits
from paste_proxy.speculation.opportunities import Opportunities, Opportunity
from paste_proxy.speculation.policy import Policy
from paste_proxy.speculation.types import Asked, CallEnded, Reason, Refused, Serve, Told

from .playbook import RULES, Playbook, asked, call_of, done, guess, limits, over, predicted


class Watched:
    """A scheduler whose refusals are looked at."""

    def __init__(self, budget: BudgetLimits | None = None, slots: int = 4, stages: bool = False) -> None:
        self.tell = Playbook(limits(slots=slots), budget=budget or BudgetLimits())
        self.missed = Opportunities(Policy.parse(RULES, "test").core, least=0.15, ttl_s=60.0)
        self.stages = stages

    def __call__(self, now: float, told: Told) -> None:
        if isinstance(told, Asked):
            self.missed.asked(told, now)
        if isinstance(told, CallEnded):
            self.missed.ended(told, now)
        for command in self.tell.scheduler.step(told, now):
            if isinstance(command, Refused):
                self.missed.refused(command, now, stages=self.stages)
            if isinstance(command, Serve):
                self.missed.served(command.call)

    def said(self) -> list[str]:
        return [f"{each.calls}, {each.saved_s:g} s: {each.advice}" for each in self.missed.biggest(3)]


def test_a_tool_that_no_rule_names_is_missed_by_the_shorter_of_lead_and_time() -> None:
    w = Watched()
    w(0, predicted("lookup 1", "lookup 2"))
    w(3, asked(1, "lookup 1"))
    w(5, over(1))
    w(6, asked(2, "lookup 2"))
    w(16, over(2))
    w(17, asked(3, "lookup 3"))
    w(20, over(3))
    assert w.said() == ['2, 8 s: if it only reads: [[rule]] tool = "lookup", effect = "read"']


def test_a_rule_that_only_lacks_a_key_is_named() -> None:
    w = Watched()
    w(0, predicted("costly_search 1"))
    w(3, asked(1, "costly_search 1"))
    w(5, over(1))
    assert w.said() == ["1, 2 s: speculate = true in test: rule 8"]


def test_a_write_is_an_opportunity_only_where_it_can_be_held_back() -> None:
    for stages, said in ((False, []), (True, ["1, 2 s: stage = true in test: rule 2"])):
        w = Watched(stages=stages)
        w(0, predicted("set_item 1"))
        w(3, asked(1, "set_item 1"))
        w(5, over(1))
        assert w.said() == said
    w = Watched(stages=True)
    w(0, predicted("unknown 1"))
    w(3, asked(1, "unknown 1"))
    w(5, over(1))
    assert w.said() == ['1, 2 s: [[rule]] tool = "unknown", effect = "write", stage = true']


def test_a_bound_is_named_as_it_is_configured() -> None:
    w = Watched(BudgetLimits(calls_per_day=1))
    w(0, predicted("get_item 1", "get_item 2"))
    w(1, asked(1, "get_item 2"))
    w(2, over(1))
    w(2, asked(2, "get_item 1"))
    w(3, done(1))
    assert w.said() == ["1, 1 s: raise budget.calls_per_day"]
    w = Watched(slots=1)
    w(0, predicted("get_item 1", "get_item 2"))
    w(1, asked(1, "get_item 2"))
    w(2, over(1))
    assert w.said() == ["1, 1 s: raise speculation.slots"]


def test_what_found_room_after_all_was_not_missed() -> None:
    w = Watched(slots=1)
    w(0, predicted("get_item 1", "get_item 2"))
    w(1, done(1))
    w(2, done(2))
    w(3, asked(1, "get_item 2"))
    assert w.said() == []


def test_what_was_unlikely_long_ago_or_went_wrong_was_not_missed() -> None:
    w = Watched()
    w(0, predicted(guess("lookup 1", 0.1), "lookup 2", "lookup 3"))
    w(3, asked(1, "lookup 1"))
    w(5, over(1))
    w(6, asked(2, "lookup 2"))
    w(8, over(2, Status.ERROR))
    w(70, asked(3, "lookup 3"))
    w(75, over(3))
    assert w.said() == []


def test_the_biggest_come_first_and_memory_is_bounded() -> None:
    missed = Opportunities(lambda invocation: invocation, least=0.0, ttl_s=60.0)
    for number in range(5_000):
        tool = f"tool{number}"
        refused = Refused(session="s", invocation=call_of(tool), source="p", reason=Reason.POLICY)
        missed.refused(refused, 0.0)
        missed.asked(asked(number, tool), 10.0)
        if number % 2:
            missed.ended(over(number), 10.0 + number / 1_000)
    biggest = missed.biggest(2)
    assert [each.tool for each in biggest] == ["tool4999", "tool4997"]
    assert isinstance(biggest[0], Opportunity)
    assert len(missed.biggest(10_000)) <= 256
    assert len(missed._asked) <= 1_024
