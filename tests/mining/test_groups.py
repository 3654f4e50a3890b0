"""Task groups: replays of one task never stand on both sides of a split."""

from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.importers.outlines import Outline
from paste_proxy.mining import mine as miner
from paste_proxy.mining.groups import fold_of, groups_of, groups_of_opened, opening_of, without_groups_of
from tests.mining.sessions import Script, Session

TASK = "Please find the cheapest flight from Berlin to Oslo in May"
OPENINGS = [TASK, "Hi there", TASK.lower(), "Hi"]


def session(name: str, opening: str) -> Session:
    return Script(name).user(opening).end()


def test_trials_of_one_task_are_one_group() -> None:
    groups = groups_of([session(f"tau/task1-trial{at}-{at * 50}", f"hello {at}") for at in range(3)])
    assert len(set(groups)) == 1


def test_different_tasks_are_different_groups() -> None:
    assert len(set(groups_of([session("tau/task1-trial0", "hi"), session("tau/task11-trial0", "hi")]))) == 2


def test_sessions_that_open_with_the_same_task_are_one_group_whatever_its_spacing() -> None:
    assert len(set(groups_of([session("a", TASK), session("b", TASK.upper().replace(" ", "\n"))]))) == 1


def test_groups_join_through_a_common_member() -> None:
    chain = [session("x-trial1", TASK), session("x-trial2", "hello"), session("y", TASK)]
    assert len(set(groups_of(chain))) == 1


def test_a_greeting_makes_no_group() -> None:
    assert len(set(groups_of([session("a", "Hi there"), session("b", "Hi there")]))) == 2


def test_replays_of_a_short_task_are_one_group() -> None:
    for task in ("Fix the login bug", "明日の東京の天気を調べて"):
        assert len(set(groups_of([session("a", task), session("b", task)]))) == 1


def test_what_shares_a_group_with_the_excluded_is_left_out() -> None:
    sessions = [Outline(name, "test") for name in ("t1-trial0", "t1-trial1", "t2-trial0")]
    assert [one.id for one in without_groups_of(sessions, [Outline("t1-trial9", "test")])] == ["t2-trial0"]


def test_of_the_excluded_no_more_need_be_known_than_how_they_open() -> None:
    told = [session(name, words) for name, words in zip(("a", "b", "c", "d-trial1"), OPENINGS, strict=True)]
    outlines = [Outline(one.id, "test", opening_of(one.events)) for one in told]
    assert groups_of_opened(outlines) == groups_of(told)
    assert [one.id for one in without_groups_of(outlines[1:], outlines[:1])] == ["b", "d-trial1"]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9), st.sampled_from([TASK, "Hi"])), max_size=30))
def test_a_group_falls_into_one_fold(drawn: list[tuple[int, int, str]]) -> None:
    sessions = [session(f"task{task}-trial{trial}", opening) for task, trial, opening in drawn]
    sides: dict[str, set[int]] = {}
    for one, group in zip(sessions, groups_of(sessions), strict=True):
        sides.setdefault(one.id.partition("-")[0], set()).add(fold_of(group, 2))
    assert all(len(folds) == 1 for folds in sides.values())


def test_validation_never_learns_from_the_group_it_judges() -> None:
    learned: list[set[str]] = []
    judged: list[set[str]] = []

    class Watching:
        def map(self, function, jobs):  # type: ignore[no-untyped-def]
            for job in jobs:
                learned.append({one.id.partition("-")[0] for one in job.sessions})
                judged.append({one.id.partition("-")[0] for one in job.held})
            return map(function, jobs)

    sessions = [session(f"task{task}-trial{trial}", "Hi") for task in range(8) for trial in range(3)]
    miner.mine(sessions, engine=Watching())
    assert any(judged)
    assert not any(taught & tested for taught, tested in zip(learned, judged, strict=True))


def test_a_name_with_half_a_surrogate_pair_has_a_fold() -> None:
    assert 0 <= fold_of("task\ud800", 5) < 5
