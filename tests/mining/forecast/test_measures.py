"""Numbers that tell candidates apart."""

from math import isfinite

from hypothesis import given, settings
from hypothesis import strategies as st

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.types import Event
from paste_proxy.mining.contexts import outcome
from paste_proxy.mining.forecast.measures import MEASURES, Gauge
from paste_proxy.mining.forecast.recall import recall
from paste_proxy.mining.forecast.sight import in_sight
from paste_proxy.mining.forecast.traits import Seen
from paste_proxy.mining.window import Window
from tests.mining.sessions import Script
from tests.mining.worlds import POOL, recorded

(MODEL,) = POOL.models
APP = "/home/ann/app"


def measured(script: Script, path: str, tool: str = "read") -> dict[str, float]:
    window = Window()
    for event in script.events:
        window.step(event)
    sights = in_sight(window, window.bearings)
    gauge = Gauge(window, {"read": "path"}, sights, recall(window), outcome(window.context()[-1]))
    told = gauge.measures(Seen(Invocation(tool, {"path": path})), 1)
    return dict(zip(MEASURES, told, strict=True))


def work() -> Script:
    script = (
        Script().user("Mend src/fares.py and src/cards.py, Ann").call("read", {"path": f"{APP}/src/fares.py"}, "ok")
    )
    return script.says("Now the cards.").call("edit", {"path": f"{APP}/src/fares.py", "text": "x"}, "done")


def test_a_file_of_the_plan_is_told_from_one_that_nobody_named() -> None:
    planned, other = (measured(work(), f"{APP}/src/{name}.py") for name in ("cards", "wages"))
    assert (planned["in sight"], planned["by user"], planned["first unread"], planned["after last"]) == (1, 1, 1, 1)
    assert (planned["named by user"], planned["named by model"], planned["kin sibling"]) == (1, 1, 1)
    assert (other["in sight"], other["by user"], other["named by user"], other["kin sibling"]) == (0, 0, 0, 1)
    assert planned["folder"] == other["folder"] == 1


def test_a_repeat_and_its_test_are_known() -> None:
    again, test = (measured(work(), f"{APP}/src/{name}.py") for name in ("fares", "test_fares"))
    assert (again["repeat"], again["age"] > 0, again["kin same"], again["touched"]) == (1, True, 1, 1)
    assert (test["repeat"], test["test"], test["twin of edited"], test["twin of read"]) == (0, 1, 1, 1)


def test_the_latest_calls_are_the_ones_that_count() -> None:
    script = work()
    for name in ("a", "b", "c"):
        script.call("edit", {"path": f"{APP}/src/{name}.py", "text": "x"}, "done")
    assert measured(script, f"{APP}/src/test_fares.py")["twin of edited"] == 0
    assert measured(script, f"{APP}/src/test_c.py")["twin of edited"] == 1


def test_what_is_no_file_has_only_what_the_moment_has() -> None:
    told = measured(work().user("go on"), f"{APP}/src/cards.py", tool="edit")
    assert {name for name, value in told.items() if value} <= {"after user", "files unread", "found", "tool again"} | {
        "pattern next",
        "pattern ever",
    }
    assert told["after user"] == 1


@settings(max_examples=40, deadline=None)
@given(recorded(), st.integers(1, 12))
def test_whatever_is_found_is_measured_in_finite_numbers(events: list[Event], size: int) -> None:
    window = Window(size)
    for event in events:
        window.step(event)
        for one, _ in MODEL.finder.find(window, lambda tool: True):
            assert len(one.measures) == len(MEASURES)
            assert all(map(isfinite, one.measures))
