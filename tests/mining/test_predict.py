"""The online predictor, as transcripts: an event, and what it makes of it."""

import copy
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.types import CallSealed, Event, LlmTurn, ToolCall, ToolOutput
from paste_proxy.events.values import Json, canonical_text
from paste_proxy.mining.background import parse_background
from paste_proxy.mining.contexts import suffixes
from paste_proxy.mining.mine import mine
from paste_proxy.mining.odds import Odds
from paste_proxy.mining.outlook import worth
from paste_proxy.mining.pool import Pool
from paste_proxy.mining.predict import Predictor
from paste_proxy.mining.ranked import ranked
from paste_proxy.mining.templates import Repeat
from paste_proxy.mining.window import Window
from paste_proxy.share import find
from tests.mining.sessions import Script, Session
from tests.mining.worlds import POOL as TRAVELS
from tests.mining.worlds import events_of, recorded


def results(name: str) -> Json:
    return {"results": [{"title": name, "url": f"https://{name}.org/{rank}"} for rank in range(3)]}


def searching(name: str, *, failing: bool = False) -> Session:
    script = Script(name).user(f"Tell me about {name}").call("search", {"query": name + "?"}, results(name))
    if failing:
        script.call("visit", {"url": f"https://{name}.org/0"}, "Error: timed out", ok=False)
        script.call("visit", {"url": f"https://{name}.org/1"}, "a page")
    else:
        script.call("visit", {"url": f"https://{name}.org/0"}, "a page")
    return script.says("This is what I found.").end()


BACKGROUND = parse_background(find("backgrounds", "builtin:background").read_text("utf-8"), "background")
"""As `mine` starts from it: eight tasks say next to nothing of which row is the one."""
NAMES = ["ants", "bees", "cats", "dogs", "eels", "frogs", "goats", "hens"]
POOL = mine([searching(name, failing=at % 2 == 0) for at, name in enumerate(NAMES)])


def after(pool: Pool, events: list[Event]) -> list[Invocation]:
    predictor = Predictor(pool)
    prediction = [predictor.step(event) for event in events][-1]
    return [candidate.invocation for candidate in prediction.candidates]


def test_search_then_visit_binds_the_first_url_of_the_live_session() -> None:
    live = Script("live").user("Tell me about yaks").call("search", {"query": "yaks"}, results("yaks"))
    assert after(POOL, live.events)[0] == Invocation("visit", {"url": "https://yaks.org/0"})


def test_a_failed_fetch_falls_back_to_the_next_url() -> None:
    live = Script("live").user("Tell me about yaks").call("search", {"query": "yaks"}, results("yaks"))
    live.call("visit", {"url": "https://yaks.org/0"}, "Error: no route", ok=False)
    assert after(POOL, live.events)[0] == Invocation("visit", {"url": "https://yaks.org/1"})


def test_nothing_is_predicted_from_values_the_session_does_not_hold() -> None:
    live = Script("live").user("Tell me about yaks").call("search", {"query": "yaks"}, {"results": []})
    assert {one.tool for one in after(POOL, live.events)} <= {"search"}


def test_a_pool_without_patterns_predicts_nothing() -> None:
    assert after(Pool(), list(searching("yaks").events)) == []


def test_every_item_of_a_list_is_a_candidate_and_the_likelier_ones_come_first() -> None:
    def session(name: str, looks: int) -> Session:
        orders: list[Json] = [f"{name}-1", f"{name}-2", f"{name}-3"]
        script = Script(name).user("my orders?").call("orders", {}, {"orders": orders})
        for order in orders[:looks]:
            script.call("order", {"id": order}, {"id": order})
        return script.end()

    pool = mine([session(name, looks) for name, looks in zip(NAMES, [3, 2, 3, 1, 2, 3, 3, 2], strict=True)])
    live = Script("live").user("my orders?").call("orders", {}, {"orders": ["x-1", "x-2", "x-3"]})
    predictor = Predictor(pool)
    candidates = [predictor.step(event) for event in live.events][-1].candidates
    looked_up = [one for one in candidates if one.invocation.tool == "order"]
    assert [one.invocation.arguments["id"] for one in looked_up] == ["x-1", "x-2", "x-3"]
    next_ = [one.confidence - (one.later or 0) for one in looked_up]
    assert next_ == sorted(next_, reverse=True)
    assert looked_up[0].confidence > 0.5


def test_arguments_of_one_call_come_from_one_row_and_from_several_events() -> None:
    def session(name: str, at: int) -> Session:
        trips: list[Json] = [
            {"from": f"{name}A", "to": f"{name}B", "day": "2024-05-01"},
            {"from": f"{name}B", "to": f"{name}C", "day": "2024-05-02"},
        ]
        trip = trips[at % 2]
        assert isinstance(trip, dict)
        script = Script(name).user(f"move my trip to May {10 + at}").call("booking", {"id": name}, {"trips": trips})
        arguments = {"from": trip["from"], "to": trip["to"], "date": f"2024-05-{10 + at}"}
        return script.call("flights", arguments, []).end()

    pool = mine([session(name, at) for at, name in enumerate(NAMES)], background=BACKGROUND)
    live = Script("live").user("please move it to 21st of May")
    live.call("booking", {"id": "z"}, {"trips": [{"from": "P", "to": "Q", "day": "2024-06-01"}]})
    found = [one for one in after(pool, live.events) if one.tool == "flights"]
    assert found[0] == Invocation("flights", {"from": "P", "to": "Q", "date": "2024-05-21"})


def test_a_repeated_call_has_statistics_of_its_own() -> None:
    def session(name: str) -> Session:
        script = Script(name).user("make it pass")
        for _ in range(3):
            script.call("test", {"path": f"tests/{name}"}, "1 failed", ok=False).call("edit", {"text": name * 9}, "ok")
        return script.end()

    pool = mine([session(name) for name in NAMES])
    live = Script("live").user("make it pass").call("test", {"path": "tests/x"}, "2 failed", ok=False)
    live.call("edit", {"text": "else"}, "ok")
    assert after(pool, live.events)[0] == Invocation("test", {"path": "tests/x"})


def test_expected_seconds_come_from_the_recordings() -> None:
    def session(name: str) -> Session:
        script = Script(name).user("go").call("search", {"query": name}, results(name), seconds=2.0)
        return script.call("visit", {"url": f"https://{name}.org/0"}, "page", seconds=4.0).end()

    predictor = Predictor(mine([session(name) for name in NAMES]))
    live = Script("live").user("go").call("search", {"query": "x"}, results("x"))
    candidate = [predictor.step(event) for event in live.events][-1].candidates[0]
    assert candidate.expected_s == 4.0


def test_an_unfinished_turn_is_no_source_and_no_moment() -> None:
    window = Window()
    cut = LlmTurn(session="s", ts=None, text="see https://a.org", complete=False)
    assert not window.step(cut)
    assert not window.observations


def test_a_turn_whose_calls_stand_in_the_stream_is_no_moment() -> None:
    window = Window()
    call = Invocation("t", {})
    assert not window.step(CallSealed(session="s", ts=None, turn=3, order=0, call_id="c", invocation=call))
    assert not window.step(LlmTurn(session="s", ts=None, text="calling", turn=3))
    assert window.step(LlmTurn(session="s", ts=None, text="What else?", turn=4))


def test_only_executable_tools_are_predicted() -> None:
    live = Script("live").user("Tell me about yaks").call("search", {"query": "yaks"}, results("yaks"))
    predictor = Predictor(POOL, executable=lambda tool: tool != "visit")
    predicted = [predictor.step(event) for event in live.events][-1].candidates
    assert {one.invocation.tool for one in predicted} <= {"search"}


def test_what_is_held_of_a_session_is_bounded() -> None:
    predictor = Predictor(POOL, window=8)
    for number in range(200):
        script = (
            Script("s").user(f"https://u{number}.org").call("search", {"query": str(number)}, results(f"n{number}"))
        )
        for event in script.events:
            predictor.step(event)
    held = predictor._window
    assert len(held.observations) == 8
    assert len(held.stream) <= 3
    assert len(held.asked()) <= 8


JSON: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
WORDS = st.text(max_size=60) | st.sampled_from(["https://a.org/x", "on May 3rd", '{"a": [1]}', "see src/x.py:3"])
TOOLS = st.sampled_from(["search", "visit", "other", ""])
CALLS = st.builds(Invocation, TOOLS, st.dictionaries(st.text(max_size=6), JSON, max_size=3))
EVENTS = events_of(TOOLS, CALLS, WORDS)


@settings(max_examples=150, deadline=None)
@given(st.lists(EVENTS, max_size=14))
def test_any_events_are_taken_and_none_is_changed(events: list[Event]) -> None:
    before = copy.deepcopy(events)
    predictor = Predictor(POOL)
    for event in events:
        for candidate in predictor.step(event).candidates:
            assert 0 <= candidate.confidence <= 1
    assert [payload(event) for event in events] == [payload(event) for event in before]


@settings(max_examples=20, deadline=None)
@given(st.lists(st.lists(EVENTS, max_size=8), max_size=4))
def test_any_recording_can_be_mined(recordings: list[list[Event]]) -> None:
    pool = mine([Session(f"s{at}", tuple(events)) for at, events in enumerate(recordings)])
    assert pool.origin.sessions == len(recordings)


def payload(event: Event) -> str:
    match event:
        case ToolOutput():
            return canonical_text(event.output)
        case ToolCall():
            return canonical_text(event.invocation.arguments)
        case _:
            return repr(event)


ALONE = replace(TRAVELS, patterns=tuple(replace(one, weighed=False) for one in TRAVELS.patterns), models=())
"""The patterns, weighed by nobody."""


@settings(max_examples=60, deadline=None)
@given(recorded(), st.integers(1, 8))
def test_the_ranked_are_the_best_of_all_that_the_expected_patterns_give(events: list[Event], most: int) -> None:
    window = Window(8)
    for event in events:
        if window.step(event):
            ranks = [(one.invocation.key, one.odds) for one in ranked(ALONE, window, most)]
            assert ranks == one_by_one(window)[:most]


def one_by_one(window: Window) -> list[tuple[str, Odds]]:
    best: dict[str, Odds] = {}
    for expected in ALONE.outlook.expected(suffixes(window.context())):
        template = expected.pattern.template
        used = () if isinstance(template, Repeat) else window.asked()
        given = [one.key for one in template.bind(window) if one.key not in used]
        for key, odds in zip(given, expected.odds, strict=False):
            best[key] = max(best.get(key, odds), odds, key=worth)
    return sorted(best.items(), key=lambda one: (-worth(one[1]), one[0]))
