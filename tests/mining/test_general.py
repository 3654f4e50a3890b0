"""The pool for any tool: what it holds names no tool, and it hits in sessions of tools it never saw."""

from paste_proxy.mining.evaluate import Evaluation
from paste_proxy.mining.forecast.adaptation import Adaptation, Place
from paste_proxy.mining.general import general, mine_general
from paste_proxy.mining.pool import Pool
from paste_proxy.mining.predict import Predictor
from paste_proxy.mining.storage import dump_pool, load_pool
from paste_proxy.proxy.named_files import general_pool
from tests.mining.sessions import Script, Session


def looking_again(name: str, read: str = "peruse", run: str = "execute") -> Session:
    script = Script(name).user(f"Look into {name} and mend whatever is wrong with it")
    for part in ("a", "b", "c"):
        script.call(read, {"path": f"{name}/{part}"}, "text")
        script.call(run, {"command": "check"}, "fine")
    return script.says("Done.").end()


POOL, HELD_OUT = mine_general([looking_again(f"s{at}") for at in range(16)])
OTHERS = [looking_again(f"o{at}", "fetch_page", "server/verify") for at in range(6)]


def evaluated(pool: Pool, *, online: bool) -> Evaluation:
    evaluation = Evaluation()
    adaptation = Adaptation(pool, [Place.fresh()]) if online else None
    for session in OTHERS:
        predictor = Predictor(pool, adaptation=adaptation)
        evaluation.add(session, predictor.step, Predictor(pool).step)
        predictor.end()
    return evaluation


def test_it_names_no_tool() -> None:
    (model,) = POOL.models
    assert model.general
    assert all(map(general, [*model.next, *model.ever]))
    text = dump_pool(POOL).partition('"model"')[2]
    assert "peruse" not in text
    assert "execute" not in text


def test_it_was_tried_on_tasks_it_had_not_seen() -> None:
    assert HELD_OUT.candidates > 0
    assert HELD_OUT.came > 0


def test_what_was_written_is_read_back() -> None:
    assert dump_pool(load_pool(dump_pool(POOL), "general.json")) == dump_pool(POOL)


def test_it_hits_repeats_of_tools_that_it_never_saw() -> None:
    assert evaluated(POOL, online=False).repeated.first > 0
    assert evaluated(Pool(), online=False).repeated.first == 0


def reviewing(name: str, search: str, open_: str) -> Session:
    """An agent that opens what it has found, file by file, and then what the last of these names."""
    folder = f"/home/{name}/app/src"
    found = "\n".join(f"{folder}/{part}{name}.py" for part in ("api", "db", "ui"))
    script = Script(name).user(f"Review whatever of {name} is about money and tell me what you think")
    script.call(open_, {"path": f"/home/{name}/app/README.md"}, "an app").call(search, {"for": name}, found)
    for part in ("api", "db"):
        script.call(open_, {"path": f"{folder}/{part}{name}.py"}, "code")
    script.call(open_, {"path": f"{folder}/ui{name}.py"}, f"see {folder}/money{name}.py")
    return script.call(open_, {"path": f"{folder}/money{name}.py"}, "code").says("Fine.").end()


def test_of_a_tool_that_reads_files_it_hits_those_in_sight_though_it_never_saw_the_tool() -> None:
    pool, _ = mine_general([reviewing(f"s{at}", "grep", "view") for at in range(24)])
    evaluation = Evaluation()
    for at in range(6):
        session = reviewing(f"o{at}", "server/look_up", "server/show")
        evaluation.add(session, Predictor(pool).step)
    shown = evaluation.by_tool["server/show"]
    assert shown.calls == 30
    assert shown.first >= 18
    assert evaluation.by_tool["server/look_up"].three == 0


def test_with_sessions_that_teach_it_hits_what_is_new_to_a_session_too() -> None:
    plain, taught = evaluated(POOL, online=False), evaluated(POOL, online=True)
    assert plain.first_time.first == 0
    assert taught.first_time.first > 0


def test_the_packaged_one_is_as_general() -> None:
    (model,) = general_pool().models
    assert model.general
    assert all(map(general, [*model.next, *model.ever]))
    assert general_pool().patterns == ()


def test_what_other_trials_of_a_task_asked_for_is_no_habit_of_it() -> None:
    same_task, _ = mine_general([looking_again("s0-trial" + str(at)) for at in range(8)])
    assert not [trait for model in same_task.models for trait in model.next if "habit" in trait]
    assert [trait for model in POOL.models for trait in model.next if "habit" in trait]
