"""What the agents of a measurement ask for."""

from itertools import chain

from paste_proxy.bench.interference.durations import recorded
from paste_proxy.bench.interference.plan import COMPUTING, WAITING, Kind, planned
from paste_proxy.speculation.plainly_reading import only_reads_files


def test_times_are_recorded_ones_of_middling_length() -> None:
    assert len(recorded()) >= 10
    assert all(20 <= taken.ms <= 480 and taken.size > 0 for taken in recorded())


def test_the_same_seed_gives_the_same_calls_and_another_gives_others() -> None:
    assert planned(WAITING, 3, 5, seed=1) == planned(WAITING, 3, 5, seed=1)
    assert planned(WAITING, 3, 5, seed=1) != planned(WAITING, 3, 5, seed=2)
    assert planned(WAITING, 3, 5, seed=1) != planned(WAITING, 4, 5, seed=1)


def test_every_agent_has_a_session_of_its_own_in_each_block() -> None:
    plans = list(
        chain.from_iterable(planned(load, block, 1, seed=0) for load in (WAITING, COMPUTING) for block in (0, 1))
    )
    assert len({plan.session for plan in plans}) == len(plans) == 2 * (len(WAITING.agents) + len(COMPUTING.agents))


def test_a_session_asks_for_nothing_twice_so_that_no_guess_can_be_right_by_chance() -> None:
    for plan in (*planned(WAITING, 0, 30, seed=0), *planned(COMPUTING, 0, 30, seed=0)):
        calls = [call.invocation.key for call in (*plan.warming, *plan.calls)]
        assert len(set(calls)) == len(calls)


def test_every_kind_is_asked_for_and_commands_only_read() -> None:
    calls = [call for load in (WAITING, COMPUTING) for plan in planned(load, 0, 4, seed=0) for call in plan.calls]
    assert {call.kind for call in calls} == set(Kind)
    commands = [str(call.invocation.arguments["command"]) for call in calls if call.kind is Kind.COMMAND]
    assert all(map(only_reads_files, commands)), "others would end all that is run ahead"
