"""Cross-validation of prediction."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from paste_proxy.bench.predict import cross_validate, splits
from paste_proxy.cli.main import app
from paste_proxy.errors import InputFault
from paste_proxy.events.codec import encode
from paste_proxy.importers.neutral import RecordedSession
from paste_proxy.mining.evaluate import Evaluation
from paste_proxy.mining.groups import groups_of
from paste_proxy.mining.mine import mine
from paste_proxy.mining.predict import Predictor
from paste_proxy.share import share
from tests.mining.sessions import Script

NAMES = [f"{site}-trial{trial}" for site in "abcdefghij" for trial in (1, 2)]


def session(name: str) -> RecordedSession:
    site = name.partition("-")[0]
    script = Script(name).user(f"look into {site}").call("search", {"query": site}, f"see https://{site}.org/a ")
    events = script.call("visit", {"url": f"https://{site}.org/a"}, "a page").events
    return RecordedSession(name, "test", tuple(events))


def test_every_session_is_judged_once_and_no_task_stands_on_both_sides() -> None:
    sessions = [session(name) for name in NAMES]
    found = splits(sessions, 3)
    assert sorted(one.id for split in found for one in split.judged) == sorted(NAMES)
    for split in found:
        assert not set(groups_of(split.mined)) & set(groups_of(split.judged))
        assert len(split.mined) + len(split.judged) == len(sessions)
        assert splits(sessions, 3, split.fold) == [split]


def test_the_report_is_that_of_each_fold_judged_by_what_the_others_teach() -> None:
    sessions = [session(name) for name in NAMES]
    by_hand = Evaluation()
    for split in splits(sessions, 3):
        pool = mine(split.mined)
        for one in split.judged:
            by_hand.add(one, Predictor(pool).step)
    passes = 0

    def count() -> None:
        nonlocal passes
        passes += 1

    found = splits(sessions, 3)
    report = cross_validate(found, Evaluation(), count)
    assert by_hand.report().items() <= report.items()
    assert report["by_tool"] == {
        "search": by_hand.by_tool["search"].report(),
        "visit": by_hand.by_tool["visit"].report(),
    }
    assert (report["sessions"], report["tasks"], len(found)) == (20, 10, len(found))
    assert passes == sum(split.passes for split in found)


def test_the_command_prints_one_object_or_a_table(tmp_path: Path) -> None:
    path = tmp_path / "sessions.jsonl"
    lines = [encode(event, seq) for name in NAMES for seq, event in enumerate(session(name).events)]
    path.write_bytes(b"".join(lines))
    command = ["bench", "predict", str(path), "--folds", "3"]
    shown = CliRunner().invoke(app, command)
    assert shown.exit_code == 0, shown.output
    assert "share that was the first candidate" in shown.stdout
    whole = json.loads(CliRunner().invoke(app, [*command, "--json"]).stdout)
    part = json.loads(CliRunner().invoke(app, [*command, "--only-fold", "0", "--json"]).stdout)
    assert part["calls"] < whole["calls"] == 40
    assert whole["peak_mb"] > 1
    assert sum(fold["judged"] for fold in whole["folds"]) == 20


@pytest.mark.parametrize(
    ("more", "said"), [(["--only-fold", "5"], "0 to 4"), (["--policy", "nowhere.toml"], "nowhere.toml")]
)
def test_what_cannot_be_done_is_said(more: list[str], said: str) -> None:
    traces = str(share("traces") / "tau_airline.jsonl.gz")
    assert said in refused(traces, *more)


def test_sessions_of_one_task_cannot_be_split(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    path.write_bytes(b"".join(encode(event, seq) for seq, event in enumerate(session("a-trial1").events)))
    assert "tasks in at least two folds" in refused(str(path))


def refused(*arguments: str) -> str:
    fault = CliRunner().invoke(app, ["bench", "predict", *arguments]).exception
    assert isinstance(fault, InputFault)
    return str(fault)


def test_tasks_are_dealt_evenly() -> None:
    found = splits([session(name) for name in NAMES], 5)
    assert [len(set(groups_of(split.judged))) for split in found] == [2] * 5
