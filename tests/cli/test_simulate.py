"""`paste-proxy simulate` and what is made with it: the figures, the same for a seed, and what is wrong in words."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from paste_proxy.cli.main import app
from paste_proxy.errors import InputFault

FIXED = {
    "e2e_mean_s",
    "e2e_p50_s",
    "e2e_p95_s",
    "e2e_p99_s",
    "exposed_tool_s",
    "llm_queue_s",
    "llm_s",
    "tool_calls",
    "hit_rate",
    "wasted_tool_s",
}
SYSTEMS = ["fcfs", "agentix", "specfaas", "tool_only", "llm_only", "aimd", "paste"]


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, [*arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def report(*arguments: str) -> dict[str, Any]:
    shown: dict[str, Any] = json.loads(run("simulate", "-w", "science", *arguments, "--json").splitlines()[-1])
    return shown


def test_all_systems_are_compared_under_one_load() -> None:
    shown = report("-n", "8")
    assert (shown["workload"], shown["sessions"], shown["engine"], shown["seed"]) == ("science", 8, "paper", 1)
    assert list(shown["systems"]) == SYSTEMS
    for figures in shown["systems"].values():
        assert figures.keys() >= FIXED
        assert figures["e2e_p50_s"] <= figures["e2e_p95_s"] <= figures["e2e_p99_s"]
    assert len(shown["short_of_published"]["mean"]) == len(shown["hit_rate_needed"]["mean"]) == 2


def test_a_seed_gives_the_same_to_the_last_digit_and_another_seed_does_not() -> None:
    arguments = ("-n", "24", "-a", "bursty", "-s")
    assert report(*arguments, "7") == report(*arguments, "7")
    assert report(*arguments, "7")["systems"] != report(*arguments, "8")["systems"]


def test_a_range_is_a_sweep_with_its_speedup() -> None:
    shown = report("-n", "1..8", "-e", "linear")
    assert [load["sessions"] for load in shown["loads"]] == [1, 2, 4, 8]
    assert shown["systems"] == shown["loads"][-1]["systems"]
    assert shown["speedup"]["least"] > 1.0


def test_people_see_a_row_for_each_system_and_how_far_it_is_from_the_paper() -> None:
    shown = run("simulate", "-w", "science", "-n", "8")
    assert [line.split()[0] for line in shown.splitlines() if line.startswith(tuple(SYSTEMS))] == SYSTEMS
    assert "published 43.5%" in shown
    assert "{" not in shown


def test_an_engine_of_a_file_is_used(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text('{"step_s": 0.05}')
    shown = report("-n", "2", "-e", str(path))
    assert (shown["engine"], shown["engine_parameters"]["step_s"]) == ("mine", 0.05)


def test_pools_may_be_mined_from_the_other_tasks_here() -> None:
    assert report("-n", "2", "--folds", "2")["recordings"] == 4


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("-n", "0"), "--sessions"),
        (("-n", "9..3"), "--sessions"),
        (("-n", "1,x"), "--sessions"),
        (("-n", "99999"), "--sessions"),
        (("-w", "poetry"), "--workload"),
        (("-e", "nowhere.json"), "nowhere.json"),
        (("-a", "never"), "--arrivals"),
        (("--folds", "2", "--pool", "builtin:general"), "beside --folds"),
    ],
)
def test_what_is_wrong_is_said(arguments: tuple[str, ...], says: str) -> None:
    with pytest.raises(InputFault, match=says):
        run("simulate", *arguments)


def test_the_papers_figures_are_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    shown = run("bench", "pacing", "-w", "science", "-n", "8", "-o", str(tmp_path), "--json")
    drawn = sorted(tmp_path.iterdir())
    assert [path.name.split("-")[1] for path in drawn] == ["10", "13", "15", "16", "17", "18"]
    assert all(path.read_text("utf-8").startswith("<?xml") for path in drawn)
    science = json.loads(shown.splitlines()[-1])["workloads"]["science"]
    assert science["prediction"].keys() == {"top1", "top3", "hit_rate"}
    assert science["tools_per_minute"]["paste"] > 0


@pytest.mark.parametrize("loads", ["", "0,1", "1,,2", "a"])
def test_streams_that_are_no_numbers_are_refused(tmp_path: Path, loads: str) -> None:
    with pytest.raises(InputFault, match="--loads"):
        run("bench", "engine", "http://127.0.0.1:9/v1", "-o", str(tmp_path / "e.json"), "--loads", loads)
