"""Rehearsals change nothing an agent sees and nothing a tool holds, whatever is guessed and when."""

import pytest
from hypothesis import given

from paste_proxy.events.invocation import name_of
from paste_proxy.events.result import ToolResult
from paste_proxy.speculation import rehearsing
from paste_proxy.speculation.hints import Hints
from paste_proxy.speculation.limits import ServerCapacity
from paste_proxy.speculation.policy import Policy
from paste_proxy.speculation.scheduler import Scheduler
from paste_proxy.speculation.types import JobEnded, Launch, Mode

from . import world as worlds
from .playbook import limits
from .test_lossless import CI, capacities, crowds, many, plan_of, plans
from .world import Seen, Work, World

WRITES = ("write_a", "write_ax", "write_b")
DRY = '"\nrehearse = { set = { dry = true } }\neffect = "write"'
RULES = worlds.RULES
for each in WRITES:
    RULES = RULES.replace(f'box/{each}"\neffect = "write"', f"box/{each}{DRY}")
POLICY = Policy.parse(RULES, "world")
for each in WRITES:
    POLICY.annotated(f"box/{each}", Hints(arguments=frozenset({"value", "dry"})))


class Rehearsed(World):
    """A world whose writes can be rehearsed, which touches nothing and says something else than any call."""

    rehearsals = 0

    def _launch(self, command: Launch) -> None:
        if not command.rehearsal:
            super()._launch(command)
            return
        assert name_of(command.invocation.tool) in WRITES
        assert command.invocation.arguments["dry"] is True
        self.rehearsals += 1
        work = self._jobs[command.job] = Work(command.invocation)
        self._begin()

        def end() -> None:
            if not work.cancelled:
                self._busy -= 1
                work.ended = True
                self._tell(JobEnded(job=command.job, result=ToolResult(body=b"rehearsed")))

        self._at(self._random.uniform(0.1, 6.0), end)


def played(mode: Mode, seed: int, total: int | None, *agents: list[worlds.Step], proof: bool = False) -> Rehearsed:
    bounds = limits(slots=3, ttl_s=15.0, held_results=3)
    slots = {"box": ServerCapacity(total=total, speculative=2)}
    world = Rehearsed(Scheduler(POLICY, bounds, mode, slots), seed, proof=proof)
    world.play(*agents)
    return world


def used(seen: Seen) -> bytes | None:
    """What its agent used of an answer: of one that it has given up, nothing."""
    return seen.body if seen.step.way == "called" else None


@CI
@given(plans, many, capacities)
def test_with_rehearsals_each_agent_sees_what_it_would_see_without(
    plan: list[worlds.Step], seed: int, total: int | None
) -> None:
    plain, ahead = played(Mode.OFF, seed, total, plan), played(Mode.SPECULATE, seed, total, plan)
    assert [used(seen) for seen in ahead.seen] == [used(seen) for seen in plain.seen]
    assert ahead.cells == plain.cells
    assert plain.rehearsals == played(Mode.OBSERVE, seed, total, plan).rehearsals == 0


@CI
@given(crowds, many, capacities)
def test_nobody_is_answered_from_one(crowd: list[list[worlds.Step]], seed: int, total: int | None) -> None:
    seen = played(Mode.SPECULATE, seed, total, *crowd, proof=True).seen
    assert not [one for one in seen if one.body == b"rehearsed"]


def test_there_are_rehearsals_in_these_worlds() -> None:
    assert sum(played(Mode.SPECULATE, seed, 2, plan_of(seed, 12)).rehearsals for seed in range(100)) > 50


def test_one_that_stood_where_calls_look_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rehearsing, "_APART", "")
    monkeypatch.setattr(rehearsing.Rehearsing, "asked", lambda *_: ())
    with pytest.raises((AssertionError, KeyError)):
        [played(Mode.SPECULATE, seed, 2, plan_of(seed, 12)) for seed in range(500)]
