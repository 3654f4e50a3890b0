"""What a pool says of the sessions it was mined from: enough to know them and their replays again, and no more."""

import pytest

from paste_proxy.importers.neutral import read_sessions
from paste_proxy.mining.background import parse_background
from paste_proxy.mining.mine import mine
from paste_proxy.mining.provenance import KEPT, digests, known, origin_of
from paste_proxy.mining.storage import dump_pool, load_pool
from paste_proxy.share import share
from tests.mining.sessions import Script, Session
from tests.mining.worlds import POOL, SESSIONS

TASK = "Please find the cheapest flight from Berlin to Oslo in May"


def session(name: str, said: str = "Hi") -> Session:
    return Script(name).user(said).end()


def test_of_many_sessions_a_bounded_sample_is_known_again() -> None:
    sessions = [session(f"session-{number}") for number in range(3 * KEPT)]
    ids = digests(one.id for one in sessions)
    assert ids == digests(one.id for one in reversed(sessions))
    assert known(sessions, ids, ()) == (KEPT, 0)
    assert known([session(f"other-{number}") for number in range(100)], ids, ()) == (0, 0)


@pytest.mark.parametrize(
    ("mined", "judged", "found"),
    [
        (session("a", TASK), session("a", TASK), (1, 0)),
        (session("a", TASK), session("b", TASK.upper()), (0, 1)),
        (session("a", "明日の東京の天気を調べて"), session("b", "明日の東京の天気を調べて"), (0, 1)),
        (session("task1-trial0"), session("task1-trial3"), (0, 1)),
        (session("task1-trial0"), session("task1"), (0, 1)),
        (session("task1-trial0"), session("task11-trial0"), (0, 0)),
        (session("a", TASK), session("b", TASK + " or June"), (0, 0)),
        (session("a", "Hi"), session("b", "Hi"), (0, 0)),
    ],
)
def test_sessions_and_others_of_their_tasks_are_known_again(
    mined: Session, judged: Session, found: tuple[int, int]
) -> None:
    origin = origin_of([mined], ["a"])
    assert known([judged], origin.ids, origin.tasks) == found


def test_a_pool_knows_replays_of_what_it_was_mined_from_by_what_was_said_secrets_and_all() -> None:
    said = "use sk-proj-Zq7CanaryZq7CanaryZq7 to look for orders"
    pool = load_pool(dump_pool(mine([*SESSIONS, session("a", said)])), "pool.json")
    replays = [Session(f"again {at}", one.events) for at, one in enumerate([*SESSIONS, session("a", said)])]
    assert known(replays, pool.origin.ids, pool.origin.tasks) == (0, len(replays))


def test_no_packaged_session_is_of_a_task_that_a_packaged_pool_was_mined_from() -> None:
    sessions = read_sessions([share("traces")])
    origins = [load_pool(path.read_text("utf-8"), path.name).origin for path in share("patterns").glob("*.json")]
    background = parse_background((share("patterns") / "background.weights").read_text("utf-8"), "background")
    for ids, tasks in [(background.ids, background.tasks), *((one.ids, one.tasks) for one in origins)]:
        assert ids
        assert tasks
        assert known(sessions, ids, tasks) == (0, 0)


def test_a_pool_names_no_session_and_no_word_of_it() -> None:
    assert {len(one) for one in (*POOL.origin.ids, *POOL.origin.tasks)} == {10}


def test_a_pool_says_no_folder_of_the_machine_that_it_was_mined_on() -> None:
    sources = ("/home/ann/work/one.jsonl", "them/project:logs/two.jsonl")
    sessions = [Session(str(number), (), source) for number, source in enumerate(sources)]
    assert origin_of(sessions, ["a", "a"]).sources == ("one.jsonl", "them/project:logs/two.jsonl")
