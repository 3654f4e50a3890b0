"""Numbers that go on, where earlier calls or other tasks show the step."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.events.values import Json
from paste_proxy.mining.forms import same
from paste_proxy.mining.mine import mine
from paste_proxy.mining.predict import Predictor
from paste_proxy.mining.sources import Source
from paste_proxy.mining.steps import Step, onward, step_between, stepped
from paste_proxy.mining.window import Window
from tests.mining.sessions import Script, Session


@pytest.mark.parametrize(
    ("earlier", "later", "next_"),
    [
        (1, 2, 3),
        (0, 200, 400),
        (9, 6, 3),
        (1.0, 2.0, 3.0),
        ("page=2", "page=3", "page=4"),
        ("item_09", "item_10", "item_11"),
        ("item_008", "item_009", "item_010"),
        ("sed -n '1,100p' a2.py", "sed -n '101,200p' a2.py", "sed -n '201,300p' a2.py"),
        ("3", "2", "1"),
    ],
)
def test_a_value_goes_on_by_the_step_of_the_last_two(earlier: Json, later: Json, next_: Json) -> None:
    assert same(onward(earlier, later), next_)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (2, 2),
        (1, 2.0),
        (1, "2"),
        (True, False),
        (False, 2),
        (1.5, 2.5),
        (float("nan"), 1.0),
        (1, 10**400),
        (0, 2**52),
        ("a1", "b2"),
        ("a1", "a1 2"),
        ("x", "x"),
        ([1], [2]),
        (None, 1),
        ("1" * 400, "2" * 400),
        ("x" * 5_000 + "1", "x" * 5_000 + "2"),
    ],
)
def test_where_no_step_shows_nothing_goes_on(earlier: Json, later: Json) -> None:
    assert step_between(earlier, later) == 0
    assert onward(earlier, later) is None


def test_a_number_in_a_text_does_not_go_below_zero() -> None:
    assert onward("x2", "x1") == "x0"
    assert onward("x1", "x0") is None
    assert stepped("x0", -1) is None


NUMBERS = st.integers(-(10**9), 10**9) | st.floats() | st.booleans() | st.text("0123 -_x", max_size=12)


@given(NUMBERS, st.integers(-99, 99).filter(bool))
def test_a_step_is_found_between_a_value_and_the_one_it_makes(value: Json, by: int) -> None:
    after = stepped(value, by)
    if after is not None:
        assert type(after) is type(value)
        assert step_between(value, after) == by
        assert same(stepped(after, by), onward(value, after))


def window_of(script: Script) -> Window:
    window = Window()
    for event in script.events:
        window.step(event)
    return window


def test_a_step_reads_the_latest_calls_of_its_tool() -> None:
    script = Script().call("list", {"page": 1}, "a").call("other", {"page": 7}, "b")
    window = window_of(script)
    source = Source("call", "list")
    assert Step(source, "/page").values(window) == []
    assert [bound.value for bound in Step(source, "/page", 10).values(window)] == [11]
    for event in script.call("list", {"page": 3}, "c").events[-2:]:
        window.step(event)
    assert [bound.value for bound in Step(source, "/page").values(window)] == [5]
    assert Step(Source("call", "never"), "/page").values(window) == []


def paging(name: str, step: int, pages: int) -> Session:
    script = Script(name).user(f"all orders of the customer named {name}")
    for page in range(pages):
        script.call("orders", {"customer": name, "offset": page * step}, {"rows": [f"{name}-{page}"], "more": True})
    return script.call("sum", {"of": name}, "done").end()


def test_mined_steps_are_predicted_for_numbers_that_no_task_has_had() -> None:
    pool = mine(
        [paging(name, step, 5) for name, step in zip("abcdefgh", (20, 25, 50, 20, 40, 60, 30, 70), strict=True)]
    )
    predictor = Predictor(pool)
    events = paging("z", 333, 4).events[:-2]
    candidates = [predictor.step(event).candidates for event in events][-1]
    assert {"customer": "z", "offset": 4 * 333} in [one.invocation.arguments for one in candidates[:2]]


def test_a_step_that_other_tasks_took_is_predicted_after_one_call() -> None:
    pool = mine([paging(name, 20, pages) for name, pages in zip("abcdefgh", (2, 3, 4, 2, 3, 4, 5, 3), strict=True)])
    steps = [slot.mappers for slot in pool.models[0].finder.arguments.slots.values() if slot.name == "offset"]
    assert Step(Source("call", "orders"), "/offset", 20) in [mapper for _, mapper in steps[0]]
