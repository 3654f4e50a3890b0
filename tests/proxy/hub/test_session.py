"""How tool calls find the turn that asked for them."""

from collections.abc import Collection, Sequence

from paste_proxy.events.candidate import Candidate
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.outline import Outline
from paste_proxy.events.types import Event
from paste_proxy.mining.prediction import Prediction
from paste_proxy.proxy.hub.session import AgentSession, AskedCall


class Silent:
    """A predictor with nothing to say."""

    def follow(self, event: Event) -> None:
        return

    def step(self, event: Event) -> Prediction:
        return Prediction()

    def suppose(self, past: Sequence[Event], latest: Event) -> Prediction:
        return Prediction()

    def end(self) -> None:
        pass

    def glimpse(self) -> Sequence[Candidate]:
        return ()

    def look_ahead(self) -> None:
        return

    def narrow(self, outline: Outline, beside: Collection[str] = ()) -> Prediction:
        return Prediction()


READ_A, READ_B = Invocation("read", {"path": "a"}), Invocation("read", {"path": "b"})


def session_with(*calls: AskedCall) -> AgentSession:
    session = AgentSession("s", Silent(), started=0.0, seen=0.0)
    for call in calls:
        session.asked(call)
    return session


def test_a_repeated_call_id_is_told_apart_by_its_arguments() -> None:
    first, second = AskedCall(1, 0, "call_0", READ_A), AskedCall(1, 1, "call_0", READ_B)
    session = session_with(first, second)
    assert session.claim(READ_B, "call_0") is second
    assert session.claim(READ_A, "call_0") is first


def test_equal_calls_of_one_turn_are_claimed_in_order() -> None:
    first, second = AskedCall(1, 0, "x", READ_A), AskedCall(1, 1, "y", READ_A)
    session = session_with(first, second)
    assert [session.claim(READ_A, None), session.claim(READ_A, None), session.claim(READ_A, None)] == [
        first,
        second,
        None,
    ]


def test_the_latest_turn_is_claimed_before_an_older_one_left_open() -> None:
    old, new = AskedCall(1, 0, "call_0", READ_A), AskedCall(2, 0, "call_0", READ_A)
    session = session_with(old, new)
    assert session.claim(READ_A, "call_0") is new


def test_arguments_that_grew_replace_the_call_of_their_place() -> None:
    grown = AskedCall(1, 0, "x", READ_B)
    session = session_with(AskedCall(1, 0, "x", READ_A))
    assert session.asked(grown) is not None
    assert session.calls == [grown]


def test_calls_nobody_answers_are_let_go_after_some_turns() -> None:
    call = AskedCall(0, 0, "x", READ_A)
    session = session_with(call)
    stale = [session.begin_turn() for _ in range(20)]
    assert [call for calls in stale for call in calls] == [call]
    assert session.calls == []
