import pytest

from paste_proxy.bench.latency import FIRST_TOKEN_S, LONGEST_LLM_S, STATED, TOKENS_PER_S, Kind
from paste_proxy.bench.script import build_script
from paste_proxy.bench.workload import Workload, packaged_tasks
from tests.bench.sessions import S, airline, answered, called, said, spoke


def test_text_and_the_calls_after_it_are_one_turn() -> None:
    script = build_script(
        S,
        [
            said("hi"),
            spoke("I look."),
            called("a", "get_x", {"id": 1}),
            called("b", "get_x", {"id": 2}),
            answered("a", "get_x", "one"),
            answered("b", "get_x", "two"),
            spoke("Done."),
        ],
    )
    assert [(turn.heard, turn.text, [call.call_id for call in turn.calls]) for turn in script.turns] == [
        (("hi",), "I look.", ["a", "b"]),
        ((), "Done.", []),
    ]


def test_calls_of_one_turn_id_are_one_turn_though_answers_lie_between() -> None:
    script = build_script(
        S,
        [
            called("a", "Read", {"p": 1}, turn=0),
            answered("a", "Read", "x"),
            called("b", "Read", {"p": 2}, turn=0),
            answered("b", "Read", "y"),
            called("c", "Read", {"p": 3}, turn=1),
            answered("c", "Read", "z"),
        ],
    )
    assert [[call.call_id for call in turn.calls] for turn in script.turns] == [["a", "b"], ["c"]]


def test_without_turn_ids_a_call_after_an_answer_is_a_new_turn() -> None:
    script = build_script(S, airline())
    assert [len(turn.calls) for turn in script.turns] == [1, 1, 0, 1, 1, 0]


def test_a_reused_call_id_pairs_each_output_with_its_own_call() -> None:
    script = build_script(
        S,
        [
            called("call_0", "get_x", {"id": 1}),
            answered("call_0", "get_x", "one"),
            called("call_0", "get_x", {"id": 2}),
            answered("call_0", "get_x", "two"),
        ],
    )
    assert [call.result.body for call in script.calls] == [b"one", b"two"]


def test_a_call_without_a_recorded_answer_is_left_out() -> None:
    script = build_script(S, [spoke("a"), called("a", "get_x", {}), said("stop"), spoke("ok")])
    assert script.calls == ()
    assert [turn.text for turn in script.turns] == ["a", "ok"]


def test_the_llm_takes_the_recorded_gap_where_there_is_a_clock() -> None:
    script = build_script(
        S,
        [
            said("hi", 100.0),
            spoke("x" * 40, 104.0),
            called("a", "get_x", {}, 105.0),
            answered("a", "get_x", "y", 107.0, duration_s=2.0),
            spoke("late", 1000.0),
        ],
    )
    first, second = script.turns
    assert first.first_token_s + first.stream_s == pytest.approx(5.0)
    assert second.first_token_s + second.stream_s == pytest.approx(LONGEST_LLM_S)
    assert script.calls[0].latency_s == 2.0


def test_without_a_clock_the_llm_takes_the_stated_time() -> None:
    script = build_script(S, [said("hi"), spoke("x" * 400)])
    assert script.turns[0].first_token_s == FIRST_TOKEN_S
    assert script.turns[0].stream_s == 100 / TOKENS_PER_S


def test_a_stated_latency_depends_on_the_call_alone() -> None:
    one, other = build_script("a", airline("a")), build_script("b", airline("b"))
    assert [call.latency_s for call in one.calls] == [call.latency_s for call in other.calls]
    lookup = STATED[Kind.LOOKUP].typical_s
    assert 0.5 * lookup <= one.calls[0].latency_s <= 1.5 * lookup


def test_a_recorded_wait_for_permission_is_cut() -> None:
    script = build_script(S, [called("a", "Edit", {"p": 1}), answered("a", "Edit", "ok", duration_s=400.0)])
    assert script.calls[0].latency_s == STATED[Kind.FILE].longest_s


@pytest.mark.parametrize("absurd", [-1.0, float("nan"), float("inf"), 1e9])
def test_what_no_call_takes_was_not_recorded(absurd: float) -> None:
    recorded = [called("a", "get_x", {"id": 1}), answered("a", "get_x", "one", duration_s=absurd)]
    unknown = [called("a", "get_x", {"id": 1}), answered("a", "get_x", "one")]
    (call,), (stated,) = build_script(S, recorded).calls, build_script(S, unknown).calls
    assert call == stated
    assert not call.recorded


@pytest.mark.parametrize("absurd", [float("nan"), -1e12])
def test_a_clock_that_tells_nothing_takes_no_time(absurd: float) -> None:
    script = build_script(S, [said("hi", 100.0), spoke("x" * 40, absurd)])
    assert script.turns[0].first_token_s + script.turns[0].stream_s == 0.0


@pytest.mark.parametrize("workload", list(Workload))
def test_packaged_sessions_become_scripts_with_calls(workload: Workload) -> None:
    tasks = packaged_tasks([workload])
    assert any(task.script.calls for task in tasks)
    assert all(task.script.turns for task in tasks)
    assert all(call.latency_s <= 60 for task in tasks for call in task.script.calls)


def test_fewer_sessions_are_taken_in_turn_from_each_kind() -> None:
    assert [task.workload for task in packaged_tasks(Workload, 4)] == ["airline", "airline", "research", "coding"]
