"""What `bench staging` measures and says."""

import asyncio
import json
import os
from pathlib import Path

import pytest
from typer import Typer
from typer.testing import CliRunner

from paste_proxy.bench.staging_cost import COMMANDS, FIGURES, Round, plant, report_of
from paste_proxy.cli.staging_cost import staging
from paste_proxy.staging.forks import Forks
from paste_proxy.staging.probe import probe
from paste_proxy.staging.types import Tier

app = Typer()
app.command()(staging)


def round_of(value: float) -> Round:
    return Round(set_up=value, proof=2 * value, commit=3, command=5, normal=4, added=value + 9, clean_up=0)


def test_each_figure_is_told_by_its_median_and_its_95th_percentile() -> None:
    report = report_of([round_of(float(value)) for value in range(1, 101)])
    assert set(report) == {f"{name}_ms" for name in FIGURES}
    assert report["set_up_ms"] == {"p50": 50, "p95": 95}
    assert report["sum_ms"] == {"p50": 153, "p95": 288}


@pytest.mark.parametrize("files", [1, 100, 260])
def test_a_workspace_has_as_many_files_as_asked_for_and_what_the_commands_need(tmp_path: Path, files: int) -> None:
    made = plant(tmp_path, files)
    assert made == sum(path.is_file() for path in tmp_path.rglob("*"))
    assert made >= files
    for command in COMMANDS.values():
        for _ in range(2):
            assert os.system(f"cd {tmp_path} && set -e; {command} >/dev/null") == 0
    assert made == sum(path.is_file() for path in tmp_path.rglob("*"))


async def _views(base: Path) -> bool:
    forks = Forks()
    tier, _ = await probe(str(base), forks)
    await forks.close()
    return tier is not Tier.NONE


def test_it_prints_a_table_or_one_object_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not asyncio.run(_views(tmp_path)):
        done = CliRunner().invoke(app, ["--files", "100", "--rounds", "1"])
        assert "cannot be staged here" in str(done.exception)
        return
    monkeypatch.setattr("paste_proxy.bench.staging_cost._PLACE", str(tmp_path))
    command = ["--files", "100", "--rounds", "2"]
    told = json.loads(CliRunner().invoke(app, [*command, "--json"]).stdout.splitlines()[-1])
    assert (told["files"], told["rounds"], set(told["cases"])) == (100, 2, {"trivial", "edits"})
    for case in told["cases"].values():
        assert case["sum_ms"]["p50"] > case["proof_ms"]["p50"] > 0
        assert case["clean_up_ms"]["p95"] > 0
    plain = CliRunner().invoke(app, command)
    assert plain.exit_code == 0, plain.output
    assert "workspace proven unchanged" in plain.stdout
    assert "{" not in plain.stdout
    assert list(tmp_path.iterdir()) == []
