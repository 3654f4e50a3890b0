"""What mining keeps of the sessions it learns from, and that it is the same every time."""

import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.types import Event, LlmTurn, ToolCall, ToolOutput, UserMessage
from paste_proxy.events.values import Json
from paste_proxy.mining.forecast.training.choosing import frequent_of
from paste_proxy.mining.mine import mine
from paste_proxy.mining.storage import dump_pool, load_pool
from tests.mining.sessions import Script, Session
from tests.mining.worlds import SESSIONS, travelling

CANARY = "Zq7Canary"
"""No part of it is a word of the others' sessions; mined text is searched for it whatever its case."""


def told(event: Event, canary: str, how: str) -> Event:
    """The event with a canary in whatever it says."""

    def text(said: str) -> str:
        return {"after": f"{said} {canary}", "path": f"{said}/{canary}/x.py", "alone": canary}[how]

    def value(given: Json) -> Json:
        match given:
            case str():
                return text(given)
            case list():
                return [*map(value, given), canary]
            case dict():
                return {key: value(inner) for key, inner in given.items()} | {canary: canary}
            case _:
                return given

    match event:
        case UserMessage() | LlmTurn():
            return replace(event, text=text(event.text))
        case ToolCall():
            changed = {name: value(given) for name, given in event.invocation.arguments.items()}
            return replace(event, invocation=Invocation(event.invocation.tool, changed))
        case ToolOutput():
            return replace(event, output=value(event.output))
        case _:
            return event


@settings(max_examples=8, deadline=None)
@given(
    st.integers(0, len(SESSIONS) - 1),
    st.sampled_from(["after", "path", "alone"]),
    st.sampled_from([CANARY, CANARY.lower(), f"report.{CANARY[:4]}", f"{CANARY}@x.org", f"-{CANARY}"]),
    st.integers(1, 3),
)
def test_what_one_task_alone_said_asked_for_or_was_answered_is_not_in_the_pool(
    at: int, how: str, canary: str, trials: int
) -> None:
    sessions = [session for nth, session in enumerate(SESSIONS) if nth != at]
    events = tuple(told(event, canary, how) for event in SESSIONS[at].events)
    secret = [Session(f"{SESSIONS[at].id}-trial{trial}", events) for trial in range(trials)]
    text = dump_pool(mine([*sessions, *secret])).lower()
    assert CANARY[:4].lower() not in text


def test_words_beside_an_enumerated_choice_are_kept_if_several_tasks_said_them() -> None:
    """The user's words choose among a few constants; a name that one user said chose one as well."""

    def session(name: str, at: int) -> Session:
        words = "economy saver" if at % 2 else "business"
        script = Script(name).user(f"{words} for {'zylberstein' if at == 3 else 'me'}, {name}")
        return script.call("seat", {"cabin": "low" if at % 2 else "high"}, "").end()

    text = dump_pool(mine([session(f"s{at}", at) for at in range(12)]))
    assert "&economy" in text
    assert "zylberstein" not in text


def test_invocations_of_fewer_than_three_tasks_are_no_labels() -> None:
    def session(at: int) -> Session:
        return Script(f"s{at}").user("go").call("t", {"x": "once" if at < 2 else "often"}, "").end()

    sessions = [session(at) for at in range(5)]
    found = frequent_of(sessions, [one.id for one in sessions])
    assert [one.arguments["x"] for one in found.values()] == ["often"]


def test_the_same_sessions_give_the_same_text() -> None:
    assert dump_pool(mine(SESSIONS)) == dump_pool(mine([travelling(one.id, at) for at, one in enumerate(SESSIONS)]))


@pytest.mark.slow
def test_whatever_the_hashes_of_a_run_are_the_text_is_the_same() -> None:
    code = (
        "from tests.mining.worlds import POOL; from paste_proxy.mining.storage import dump_pool; print(dump_pool(POOL))"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(runs) == 1


def test_in_another_order_the_same_is_known_with_other_weights() -> None:
    """Descent goes over the sessions in the order they are given, so weights differ; what has them does not."""
    (one,), (other,) = mine(SESSIONS).models, mine(SESSIONS[::-1]).models
    assert one.finder.frequent.keys() == other.finder.frequent.keys()
    assert one.finder.arguments.slots.keys() == other.finder.arguments.slots.keys()
    for where, slot in one.finder.arguments.slots.items():
        same = other.finder.arguments.slots[where]
        assert (slot.constants, slot.phrases, slot.enumerated) == (same.constants, same.phrases, same.enumerated)
    assert one.finder.arguments.shapes.keys() == other.finder.arguments.shapes.keys()


def test_one_session_teaches_nothing_and_none_is_no_fault() -> None:
    assert mine([]).models[0].next == {}
    pool = mine(SESSIONS[:1])
    assert pool.patterns == ()
    assert not pool.models[0].finder.choice.bias


def test_calls_that_no_pool_can_hold_are_left_out_of_it() -> None:
    deep: Json = "x"
    for _ in range(120):
        deep = [deep]
    sessions = [
        Script(f"odd-{name}")
        .user(f"do what {name} needs")
        .call("", {"a": "b"}, "fine")
        .call("run", {"plan": deep}, "fine")
        .call("look", {"at": "map"}, "seen")
        .end()
        for name in "abcdef"
    ]
    pool = mine(sessions)
    text = dump_pool(pool)
    assert dump_pool(load_pool(text, "pool")) == text
    assert "look" in text


def test_a_written_pattern_that_mining_finds_as_well_keeps_its_name() -> None:
    mined = mine(SESSIONS)
    found = next(pattern for pattern in mined.patterns if pattern.template.tool == "policy")
    pool = mine(SESSIONS, written=[replace(found, id="ours"), replace(found, id="ours too")])
    assert [pattern.id for pattern in pool.patterns if pattern.template == found.template] == ["ours"]
    assert {pattern.id for pattern in pool.patterns} ^ {pattern.id for pattern in mined.patterns} == {"ours", found.id}


@pytest.mark.parametrize("odd", [[-5.0], [1e17], [1.7e308, 1.7e308], [float("nan")], [float("inf")], [10**400]])
def test_one_odd_duration_is_no_duration(odd: list[float]) -> None:
    def session(name: str, *seconds: float) -> Session:
        script = Script(name).user("Hi")
        for took in seconds:
            script.call("look", {"at": "home"}, "seen", seconds=took)
        return script.end()

    pool = mine([session("a", *odd), session("b", *odd, *([2.0] if len(odd) == 1 else []))])
    assert pool.tools["look"].median_s == (2.0 if len(odd) == 1 else None)
    assert load_pool(dump_pool(pool), "pool.json").tools == pool.tools
