"""What may follow on what in the life of a stage."""

import pytest

from paste_proxy.staging.stage import Event, State, after

_FINAL = {State.COMMITTED, State.DISCARDED}


def test_the_straight_way() -> None:
    state = State.NEW
    for event, following in (
        (Event.STARTED, State.STAGING),
        (Event.ENDED, State.READY),
        (Event.ASKED, State.PROVING),
        (Event.PROVEN, State.COMMITTING),
        (Event.DONE, State.COMMITTED),
    ):
        assert (state := after(state, event)) is following  # type: ignore[assignment]


@pytest.mark.parametrize("state", State)
def test_it_can_be_dropped_until_its_commit_is_proven(state: State) -> None:
    droppable = state not in {*_FINAL, State.COMMITTING}
    assert after(state, Event.DROPPED) == (State.DISCARDED if droppable else None)


@pytest.mark.parametrize("state", sorted(_FINAL))
@pytest.mark.parametrize("event", Event)
def test_nothing_follows_on_an_end(state: State, event: Event) -> None:
    assert after(state, event) is None


def test_it_is_asked_for_once() -> None:
    assert [state for state in State if after(state, Event.ASKED)] == [State.READY]
    assert not any(after(state, event) is State.READY for state in State for event in Event if event is not Event.ENDED)


def test_nothing_is_committed_without_a_proof() -> None:
    ways = {(state, event) for state in State for event in Event if after(state, event) is State.COMMITTING}
    assert ways == {(State.PROVING, Event.PROVEN)}
