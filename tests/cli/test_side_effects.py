"""What `bench side-effects` prints, and how it ends."""

import json
from pathlib import Path
from typing import Any

import typer
from typer.testing import CliRunner

from paste_proxy.cli.side_effects import side_effects

APP = typer.Typer()
APP.command()(side_effects)
COMMAND = ["--candidates", "300", "--json"]
WRONG = """
[[rule]]
tool = ["crm/delete_order", "workbench/write"]
effect = "read"
destination = "local"
"""


def test_guesses_of_all_kinds_have_no_effect() -> None:
    done = CliRunner().invoke(APP, COMMAND)
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert found["candidates"] >= 300
    assert found["refused"] == sum(found["refused_by_reason"].values())
    assert {"policy", "not_executable", "duplicate"} <= found["refused_by_reason"].keys()
    assert min(found["side_effecting_refused"], found["run_as_reads"], found["requests_ahead"]) > 0
    assert found["effects"] == 0
    assert f"{'effects':<24}{0:>9}" in done.stdout


def test_a_rule_that_lets_writes_through_is_told_by_their_effects(tmp_path: Path) -> None:
    (tmp_path / "wrong.toml").write_text(WRONG)
    done = CliRunner().invoke(APP, [*COMMAND, "--policy", str(tmp_path / "wrong.toml")])
    assert done.exit_code == 1, done.output
    assert json.loads(done.stdout.splitlines()[-1])["effects"] > 0
    assert "crm was asked for delete_order" in done.stdout
    assert "workspace/guessed.txt came to be" in done.stdout
