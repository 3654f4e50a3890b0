"""What holds of the gate of a key whatever it is told, and what it does for a fleet."""

from dataclasses import dataclass
from math import inf
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paste_proxy.turns.rate_gate import RateGate
from paste_proxy.turns.types import (
    Admit,
    Allowance,
    Command,
    Limited,
    RateLimits,
    Tick,
    TurnAway,
    TurnFacts,
    TurnOver,
    TurnReady,
    TurnWrites,
)

from .api import Api, Fleet, OpenGate, Tokens

LONGEST_S = 30.0


@dataclass(frozen=True)
class Wish:
    """A turn that some agent asks for at a time, and what its answer says after a while."""

    at: float
    prompt: float
    answers_after_s: float
    limits: RateLimits | None
    leaves_after_s: float
    patience_s: float | None


ALLOWANCES = st.builds(
    Allowance,
    limit=st.none() | st.sampled_from([0.0, 1.0, 5.0, 2_000.0]),
    remaining=st.none() | st.floats(0, 3_000),
    reset_s=st.none() | st.floats(0, 100),
)
LIMITS = st.builds(
    RateLimits,
    requests=ALLOWANCES,
    tokens=ALLOWANCES,
    input_tokens=ALLOWANCES,
    output_tokens=ALLOWANCES,
    refused=st.booleans(),
    retry_after_s=st.none() | st.floats(0, 50),
)
WISHES = st.lists(
    st.builds(
        Wish,
        at=st.sampled_from([0.0, 1.0, 1.1]) | st.floats(0, 60).map(lambda at: round(at, 6)),
        prompt=st.sampled_from([10.0, 1_000.0, 100_000.0]),
        answers_after_s=st.floats(0, 10),
        limits=st.none() | LIMITS,
        leaves_after_s=st.just(inf) | st.floats(0, 40),
        patience_s=st.none() | st.floats(0, 60),
    ),
    min_size=1,
    max_size=30,
)


class Played:
    """The wishes played against a gate, in time of their own."""

    def __init__(self, gate: RateGate, wishes: list[Wish]) -> None:
        self.gate, self.wishes = gate, wishes
        self.entered: dict[int, tuple[float, Command]] = {}
        self.order: list[int] = []
        self.left: set[int] = set()
        pending = [(wish.at, turn, "ready") for turn, wish in enumerate(wishes)]
        pending += [(wish.at + wish.leaves_after_s, turn, "then leaves") for turn, wish in enumerate(wishes)]
        self.pending = [one for one in pending if one[0] < inf]
        now = 0.0
        for _ in range(10_000):
            due = gate.next_deadline()
            soonest = min(self.pending, default=None)
            if due is not None and (soonest is None or due < soonest[0]):
                now = max(now, due)
                self._do(gate.step(Tick(), now), now)
            elif soonest is None:
                return
            else:
                self.pending.remove(soonest)
                now, turn, what = soonest
                self._happens(turn, what, now)
        raise AssertionError("it never comes to an end")

    def _happens(self, turn: int, what: str, now: float) -> None:
        wish = self.wishes[turn]
        if what == "ready":
            facts = TurnFacts(session=str(turn), prompt_tokens=wish.prompt, output_tokens=100)
            self._do(self.gate.step(TurnReady(turn=turn, facts=facts, patience_s=wish.patience_s), now), now)
        elif turn not in self.left:
            if what == "answers":
                if wish.limits is not None:
                    self._do(self.gate.step(Limited(turn=turn, limits=wish.limits), now), now)
                self._do(self.gate.step(TurnWrites(turn=turn), now), now)
            self.left.add(turn)
            self._do(self.gate.step(TurnOver(turn=turn), now), now)

    def _do(self, commands: list[Command], now: float) -> None:
        for command in commands:
            assert command.turn not in self.entered, "decided twice"
            assert command.turn not in self.left, "decided after it had left"
            self.entered[command.turn] = now, command
            if isinstance(command, Admit):
                self.order.append(command.turn)
                self.pending.append((now + self.wishes[command.turn].answers_after_s, command.turn, "answers"))


@settings(max_examples=400, deadline=None)
@given(wishes=WISHES)
def test_each_turn_is_decided_once_and_in_time_or_has_left(wishes: list[Wish]) -> None:
    gate = RateGate(longest_s=LONGEST_S)
    played = Played(gate, wishes)
    assert set(range(len(wishes))) == set(played.entered) | played.left
    assert (gate.held, gate.next_deadline()) == (0, None)
    for turn, (at, command) in played.entered.items():
        patience_s = wishes[turn].patience_s
        assert at - wishes[turn].at <= min(LONGEST_S, inf if patience_s is None else patience_s) + 1e-6
        if isinstance(command, TurnAway):
            assert patience_s is not None
            assert patience_s < LONGEST_S
            assert 1 <= command.retry_after_s <= LONGEST_S


@settings(max_examples=200, deadline=None)
@given(wishes=WISHES)
def test_they_go_in_the_order_in_which_they_came(wishes: list[Wish]) -> None:
    played = Played(RateGate(longest_s=LONGEST_S), wishes)
    assert played.order == sorted(played.order, key=lambda turn: (wishes[turn].at, turn))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("requests", "tokens"),
    [((30, 2), (1e9, 1e6)), ((10, 2), (1e9, 1e6)), ((1_000, 100), (60_000, 4_000)), ((60, 1), (90_000, 1_500))],
    ids=["requests", "few requests", "tokens", "both"],
)
def test_a_fleet_is_refused_without_the_gate_and_with_it_never_once_limits_are_known(
    requests: tuple[float, float], tokens: tuple[float, float], seed: int
) -> None:
    open_to_all = Fleet(Api(Tokens(*requests), Tokens(*tokens)), OpenGate(), Random(seed))
    open_to_all.run()
    assert len(open_to_all.refused_later) > 1_000
    gated = Fleet(Api(Tokens(*requests), Tokens(*tokens)), RateGate(), Random(seed))
    gated.run()
    assert gated.refused_later == []
    assert not any(admit.late for admit in gated.admitted)
    assert gated.api.last_served <= 1.1 * gated.least_s


@pytest.mark.parametrize("estimate", [0.5, 0.8, 2.0])
def test_what_turns_take_is_learned_from_refusals(estimate: float) -> None:
    api = Api(Tokens(1_000, 100), Tokens(60_000, 3_000))
    fleet = Fleet(api, RateGate(), Random(1), estimate=estimate)
    fleet.run()
    assert len(fleet.refused_later) < 10
    assert api.last_served <= 1.1 * fleet.least_s


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    requests_per_s=st.floats(0.5, 20),
    tokens_per_s=st.floats(500, 40_000),
    kept_s=st.tuples(st.floats(8, 60), st.floats(8, 60)),
    sessions=st.sampled_from([3, 20, 50]),
    ways_s=st.sampled_from([0.006, 0.05, 0.2]),
)
def test_whatever_the_limits_none_is_refused_once_they_are_known(
    seed: int,
    requests_per_s: float,
    tokens_per_s: float,
    kept_s: tuple[float, float],
    sessions: int,
    ways_s: float,
) -> None:
    requests = Tokens(int(1 + kept_s[0] * requests_per_s), requests_per_s)
    tokens = Tokens(int(3_000 + kept_s[1] * tokens_per_s), tokens_per_s)
    fleet = Fleet(Api(requests, tokens), RateGate(longest_s=inf), Random(seed), sessions, 3, ways_s=(0.005, ways_s))
    fleet.run()
    assert fleet.refused_later == []
    assert fleet.api.served == 3 * sessions
