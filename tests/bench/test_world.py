import pytest

from paste_proxy.bench.script import Script, build_script
from paste_proxy.bench.workload import Task, Workload, packaged_tasks
from paste_proxy.bench.world import UNKNOWN, World
from paste_proxy.errors import InputFault
from paste_proxy.events.invocation import Invocation
from tests.bench.sessions import airline, answered, called


def script() -> Script:
    return build_script("s1", airline())


def test_played_in_order_the_world_answers_as_recorded() -> None:
    world = World([script()])
    for call in script().calls:
        assert world.answer(call.invocation).result == call.result


def test_a_read_before_the_write_gives_the_old_answer_however_often() -> None:
    world = World([script()])
    _, read, write, _ = script().calls
    for _ in range(3):
        assert b"economy" in world.answer(read.invocation).result.body
    world.answer(write.invocation)
    assert b"business" in world.answer(read.invocation).result.body
    assert world.written == [write.invocation.key]


def test_a_call_nobody_recorded_gets_a_neutral_answer_and_takes_time() -> None:
    answer = World([script()]).answer(Invocation("get_user_details", {"user_id": "nobody"}))
    assert answer.result == UNKNOWN
    assert not answer.recorded
    assert answer.latency_s > 0


def test_sessions_that_contradict_each_other_do_not_share_a_world() -> None:
    one = build_script("a", [called("1", "get_x", {}, session="a"), answered("1", "get_x", "old", session="a")])
    other = build_script("b", [called("1", "get_x", {}, session="b"), answered("1", "get_x", "new", session="b")])
    with pytest.raises(InputFault, match="contradicts a"):
        World([one, other])


@pytest.mark.parametrize("task", packaged_tasks([Workload.AIRLINE]), ids=lambda task: task.script.session)
def test_a_recorded_airline_task_plays_back_exactly(task: Task) -> None:
    world = World([task.script])
    assert all(world.answer(call.invocation).result == call.result for call in task.script.calls)
