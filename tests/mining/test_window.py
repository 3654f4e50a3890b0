"""The window of a session, and what lasts of it: found once, and never other than if it were found again."""

from hypothesis import given, settings
from hypothesis import strategies as st

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.types import Event, ToolCall
from paste_proxy.mining.mappers import Mapper
from paste_proxy.mining.predict import Predictor
from paste_proxy.mining.sources import Source
from paste_proxy.mining.window import Window
from tests.mining.sessions import Script
from tests.mining.worlds import EVENTS, POOL, SESSIONS, recorded


@settings(max_examples=60, deadline=None)
@given(recorded(), st.integers(2, 9))
def test_a_predictor_that_has_predicted_all_along_says_what_a_fresh_one_says(events: list[Event], size: int) -> None:
    seasoned = Predictor(POOL, window=size)
    for at, event in enumerate(events):
        prediction = seasoned.step(event)
        if at % 5 == 4 or event is events[-1]:
            fresh = Predictor(POOL, window=size)
            for past in events[:at]:
                fresh.follow(past)
            assert prediction == fresh.step(event)


@settings(max_examples=60, deadline=None)
@given(recorded(), st.lists(EVENTS, min_size=1, max_size=3), EVENTS)
def test_supposing_changes_nothing_and_says_what_would_be_said(
    past: list[Event], supposed: list[Event], coming: Event
) -> None:
    one, other = Predictor(POOL, window=8), Predictor(POOL, window=8)
    for event in past:
        one.step(event)
        other.step(event)
    told = one.suppose(supposed[:-1], supposed[-1])
    lived = Predictor(POOL, window=8)
    for event in [*past, *supposed[:-1]]:
        lived.follow(event)
    assert told == lived.step(supposed[-1])
    assert one.step(coming) == other.step(coming)


def test_what_lasts_does_not_grow_with_the_session() -> None:
    predictor, window = Predictor(POOL, window=8), Window(8)
    sizes: list[int] = []
    for round_ in range(60):
        session = SESSIONS[round_ % len(SESSIONS)]
        odd = Script().call(f"tool {round_}", {"path": f"/home/u{round_}/app/x.py"}, {"flights": [{"number": "1"}]})
        for event in [*session.events, *odd.events]:
            predictor.step(event)
            window.step(event)
        sizes.append(len(predictor._window.lasting))
    assert max(sizes[30:]) <= max(sizes[:30])
    assert len(window.stamps) <= 2 * 8 + 4


def test_a_fork_reads_its_past_by_what_it_has_learned_since() -> None:
    files = Mapper(Source("output", "read"), "file")
    window = Window()
    for event in Script().call("read", {}, "see app/x.py, src/y.py").call("go", {"path": "/a/b/app/z.py"}, "").events:
        window.step(event)
    assert [bound.value for bound in files.values(window)] == ["/a/b/app/x.py"]
    fork = window.fork()
    for event in Script().call("go", {"path": "/q/r/src/z.py"}, "").events:
        fork.step(event)
    assert [bound.value for bound in files.values(fork)] == ["/a/b/app/x.py", "/q/r/src/y.py"]
    assert [bound.value for bound in files.values(window)] == ["/a/b/app/x.py"]


@settings(max_examples=60, deadline=None)
@given(recorded(), st.integers(2, 9))
def test_looking_ahead_changes_nothing_of_what_is_said(events: list[Event], size: int) -> None:
    one, other = Predictor(POOL, window=size), Predictor(POOL, window=size)
    for event in events:
        assert one.step(event) == other.step(event)
        one.look_ahead()


def test_in_a_rehearsal_the_awaited_answer_is_like_the_last_one_of_its_tool() -> None:
    window = Window()
    for event in Script().call("read", {}, "one line").call("go", {}, [1]).events:
        window.step(event)
    answered = window.context()
    with window.rehearsal():
        assert window.context() == answered
    window.step(ToolCall(session="s", ts=None, call_id="c", invocation=Invocation("read", {}), turn=9))
    with window.rehearsal():
        assert window.context() == [*answered, "ok:line:read"][-3:]
    assert window.context() == answered
