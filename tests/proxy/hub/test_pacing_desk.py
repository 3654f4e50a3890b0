"""What a gate is told of the turns before it, read like a conversation."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from paste_proxy.clock import FakeClock
from paste_proxy.events.candidate import Candidate
from paste_proxy.events.invocation import Invocation
from paste_proxy.proxy.hub.observed import (
    AnswerBegins,
    AnswerSeen,
    EngineHeard,
    Exchange,
    ExchangeOver,
    RequestUnread,
)
from paste_proxy.proxy.hub.pacing_desk import PacingDesk
from paste_proxy.proxy.ports import Waiting
from paste_proxy.turns.types import (
    Admit,
    Command,
    EngineLoad,
    Measured,
    Produced,
    SessionOver,
    Told,
    TurnOver,
    TurnReady,
    TurnWrites,
)
from paste_proxy.wire.types import SeenCall, TurnEnd


class Noting:
    """A gate that lets everything in, or nothing, and remembers what it was told."""

    def __init__(self) -> None:
        self.told: list[Told] = []
        self.opens = True

    def step(self, told: Told, now: float) -> list[Command]:
        self.told.append(told)
        return [Admit(turn=told.turn, waited_s=0.0)] if self.opens and isinstance(told, TurnReady) else []

    def next_deadline(self) -> float | None:
        return None


@pytest.fixture
def gate() -> Noting:
    return Noting()


@pytest.fixture
def desk(gate: Noting) -> PacingDesk:
    return PacingDesk({"e": gate}, FakeClock())


def exchange(size: int = 400, gate: str = "e") -> Exchange:
    return Exchange(waiting=Waiting(gate, size, asyncio.get_running_loop().create_future()))


def session(**more: Any) -> Any:
    return SimpleNamespace(id="s", saved_s=0.0, exposed_s=0.0, **more)


def ended(one: Exchange, *calls: str, **more: Any) -> AnswerSeen:
    asked = tuple(SeenCall(order=order, call_id="", name=name, arguments={}) for order, name in enumerate(calls))
    return AnswerSeen(one, TurnEnd(text="", calls=asked, complete=True, **more), 1.0)


def ready(gate: Noting) -> TurnReady:
    return next(told for told in reversed(gate.told) if isinstance(told, TurnReady))


async def test_a_turn_from_its_request_to_its_end(desk: PacingDesk, gate: Noting) -> None:
    one = exchange()
    desk.handle(RequestUnread(one), session())
    assert one.waiting is not None
    assert one.waiting.entry.result() == Admit(turn=one.number, waited_s=0.0)
    assert ready(gate).facts.prompt_tokens == 100
    assert desk.busy("e")
    desk.handle(AnswerBegins(one))
    one.pieces = 7
    desk.handle(ended(one, "look", input_tokens=200, output_tokens=9), session())
    desk.handle(ExchangeOver(one))
    turn = one.number
    assert gate.told[1:] == [TurnWrites(turn=turn), Produced(tokens=9), TurnOver(turn=turn)]
    assert not desk.busy("e")


async def test_what_a_session_has_left_in_the_engine_and_how_long_its_answers_are(
    desk: PacingDesk, gate: Noting
) -> None:
    one, two = exchange(), exchange(800)
    desk.handle(RequestUnread(one), session())
    desk.handle(ended(one, "look", input_tokens=200, output_tokens=50), session())
    desk.handle(ExchangeOver(one))
    desk.handle(RequestUnread(two), session())
    facts = ready(gate).facts
    assert (facts.prompt_tokens, facts.cached_tokens, facts.output_tokens) == (400, 250, 150)
    assert (facts.turns_before, facts.session) == (1, "s")


async def test_what_was_saved_since_its_last_turn_and_what_may_be_hidden_behind_this_one(
    desk: PacingDesk, gate: Noting
) -> None:
    first = exchange()
    desk.handle(RequestUnread(first), session())
    candidate = Candidate(invocation=Invocation("t", {}), confidence=0.5, source="p", expected_s=4.0)
    for number in (1, 2):
        desk.launched(launch(number, candidate))
    desk.settled(settled(2))
    later = session()
    later.saved_s, later.exposed_s = 3.0, 6.0
    desk.handle(RequestUnread(exchange()), later)
    facts = ready(gate).facts
    assert (facts.realized_s, facts.future_s, facts.tool_wait_s) == (3.0, 2.0, 6.0)
    desk.handle(RequestUnread(exchange()), later)
    assert ready(gate).facts.realized_s == 0.0


async def test_an_answer_that_asks_for_nothing_ends_its_task(desk: PacingDesk, gate: Noting) -> None:
    one = exchange()
    desk.handle(RequestUnread(one), session())
    desk.handle(ended(one, output_tokens=3), session())
    assert gate.told[-1] == SessionOver(session="s")


async def test_an_agent_that_goes_while_it_waits(desk: PacingDesk, gate: Noting) -> None:
    gate.opens = False
    one = exchange()
    desk.handle(RequestUnread(one))
    assert one.waiting is not None
    one.waiting.entry.cancel()
    desk.handle(ExchangeOver(one))
    desk.handle(ExchangeOver(one))
    assert gate.told[1:] == [TurnOver(turn=one.number)]
    ((_, tally, state),) = desk.accounts()
    assert (tally.left, tally.admitted, state.held, state.running) == (1, 0, 0, 0)


async def test_what_an_engine_gives_and_says(desk: PacingDesk, gate: Noting) -> None:
    load = EngineLoad(running=3)
    one = exchange()
    desk.handle(RequestUnread(one))
    one.pieces = 12
    desk.handle(EngineHeard("e", None))
    desk.handle(EngineHeard("e", load))
    one.pieces = 20
    desk.handle(ended(one, output_tokens=25))
    desk.handle(EngineHeard("e", None))
    told = [Produced(tokens=12), Measured(load=None), Produced(tokens=0), Measured(load=load)]
    assert gate.told[1:5] == told
    assert gate.told[5:] == [Produced(tokens=13), Produced(tokens=0), Measured(load=None)], "not true for ever"


async def test_everything_goes_when_nothing_decides_any_more(desk: PacingDesk, gate: Noting) -> None:
    gate.opens = False
    one = exchange()
    desk.handle(RequestUnread(one))
    desk.release()
    two = exchange()
    desk.handle(RequestUnread(two))
    for each in (one, two):
        assert each.waiting is not None
        assert isinstance(each.waiting.entry.result(), Admit)


async def test_each_key_of_a_route_has_a_gate_of_its_own_and_all_one_account() -> None:
    made: list[Noting] = []

    def make() -> Noting:
        made.append(Noting())
        return made[-1]

    desk = PacingDesk({}, FakeClock(), make)
    for key in ("/v1 a", "/v1 b", "/v1 a", "/v2 a"):
        desk.handle(RequestUnread(exchange(gate=key)))
    assert [len(gate.told) for gate in made] == [2, 1, 1]
    assert {name: tally.admitted for name, tally, _ in desk.accounts()} == {"/v1": 3, "/v2": 1}
    assert {name: state.running for name, _, state in desk.accounts()} == {"/v1": 3, "/v2": 1}


def launch(job: int, candidate: Candidate) -> Any:
    return SimpleNamespace(job=job, session="s", candidate=candidate)


def settled(job: int) -> Any:
    return SimpleNamespace(job=job, session="s")
