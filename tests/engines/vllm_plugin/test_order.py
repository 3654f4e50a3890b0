"""Which waiting turn goes first: gain per pressure as a head start, and nobody waits for ever."""

from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.engines.vllm_plugin.order import Task, goes_before, task_of

SECONDS = st.floats(0, 100)


def queued(turns: list[tuple[float, float]], most_s: float = 30.0) -> list[int]:
    """The order of turns, which come at their times with their gains: positions, the first to go first."""
    came = sorted(range(len(turns)), key=lambda position: turns[position][0])
    ranks = [since - Task(gain_s=gain).head_start_s(most_s) for since, gain in turns]
    queue: list[int] = []
    for position in came:
        before = goes_before(ranks[position], (ranks[other] for other in reversed(queue)))
        queue.insert(len(queue) - before, position)
    return queue


def test_a_turn_is_put_before_others_by_gain_per_pressure() -> None:
    cheap, dear = Task(gain_s=2.0, pressure_s=1.0), Task(gain_s=2.0, pressure_s=4.0)
    assert (cheap.head_start_s(30.0), dear.head_start_s(30.0)) == (2.0, 0.5)
    assert queued([(0.0, 0.0), (0.1, 0.5), (0.2, 2.0)]) == [2, 1, 0]


def test_among_equals_the_first_goes_first() -> None:
    assert queued([(3.0, 5.0), (1.0, 5.0), (2.0, 5.0)]) == [1, 2, 0]


def test_one_that_keeps_its_place_is_never_passed() -> None:
    assert goes_before(0.0, [5.0, 4.0, None, 6.0]) == 2


@given(st.lists(st.tuples(SECONDS, SECONDS), min_size=2), SECONDS)
def test_a_turn_is_overtaken_only_by_those_that_came_within_the_longest_head_start(
    turns: list[tuple[float, float]], most_s: float
) -> None:
    places = queued(turns, most_s)
    assert sorted(places) == list(range(len(turns)))
    for position, ahead in enumerate(places):
        for behind in places[position + 1 :]:
            assert turns[ahead][0] <= turns[behind][0] + most_s + 1e-6


def test_a_request_says_what_it_is_worth() -> None:
    assert task_of({"paste_task": "a", "paste_gain": 2, "paste_pressure": 0.5, "paste_linger": 3}) == Task(
        name="a", gain_s=2.0, pressure_s=0.5, linger_s=3.0
    )


def test_what_is_no_such_value_counts_as_not_said() -> None:
    odd: dict[str, object] = {"paste_task": 7, "paste_gain": float("nan"), "paste_pressure": "much"}
    assert task_of(odd) == task_of(None) == Task()
    assert task_of({"paste_gain": -3, "paste_pressure": True}) == Task()
    assert Task(gain_s=1.0, pressure_s=0.0).head_start_s(5.0) == 5.0
