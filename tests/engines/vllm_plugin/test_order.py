"""Which waiting turn goes first: gain per pressure as a head start, and nobody waits for ever."""

from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.engines.vllm_plugin.order import Task, Waiting, in_order, task_of

SECONDS = st.floats(0, 100)


def test_a_turn_is_put_before_others_by_gain_per_pressure() -> None:
    cheap, dear = Task(gain_s=2.0, pressure_s=1.0), Task(gain_s=2.0, pressure_s=4.0)
    turns = [Waiting(0.0), Waiting(0.1, dear.head_start_s(30.0)), Waiting(0.2, cheap.head_start_s(30.0))]
    assert in_order(turns, now=1.0, longest_s=30.0) == [2, 1, 0]


def test_among_equals_the_first_goes_first() -> None:
    assert in_order([Waiting(3.0), Waiting(1.0), Waiting(2.0)], now=4.0, longest_s=30.0) == [1, 2, 0]


def test_one_that_has_waited_too_long_goes_before_all() -> None:
    turns = [Waiting(20.0, 1_000.0), Waiting(0.0), Waiting(1.0)]
    assert in_order(turns, now=30.5, longest_s=30.0) == [1, 0, 2]


@given(st.lists(st.tuples(SECONDS, SECONDS), min_size=2), SECONDS)
def test_a_turn_is_overtaken_only_by_those_that_came_within_the_longest_head_start(
    turns: list[tuple[float, float]], most_s: float
) -> None:
    waiting = [Waiting(since, Task(gain_s=gain).head_start_s(most_s)) for since, gain in turns]
    places = in_order(waiting, now=100.0, longest_s=1_000.0)
    assert sorted(places) == list(range(len(turns)))
    for position, ahead in enumerate(places):
        for behind in places[position + 1 :]:
            assert waiting[ahead].since <= waiting[behind].since + most_s + 1e-6


def test_a_request_says_what_it_is_worth() -> None:
    assert task_of({"paste_task": "a", "paste_gain": 2, "paste_pressure": 0.5}) == Task(
        name="a", gain_s=2.0, pressure_s=0.5
    )


def test_what_is_no_such_value_counts_as_not_said() -> None:
    odd: dict[str, object] = {"paste_task": 7, "paste_gain": float("nan"), "paste_pressure": "much"}
    assert task_of(odd) == task_of(None) == Task()
    assert task_of({"paste_gain": -3, "paste_pressure": True}) == Task()
    assert Task(gain_s=1.0, pressure_s=0.0).head_start_s(5.0) == 5.0
