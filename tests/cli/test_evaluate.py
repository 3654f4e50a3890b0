"""`paste-proxy evaluate --online`: each session is predicted, then it teaches."""

import json
from pathlib import Path
from typing import Any

import typer
from typer.testing import CliRunner

from paste_proxy.cli.evaluate import evaluate
from paste_proxy.events.codec import encode
from tests.mining.test_general import OTHERS

app = typer.Typer()
app.command()(evaluate)


def report(trace: Path, *options: str) -> dict[str, Any]:
    arguments = [str(trace), "--pool", "builtin:general", "--json", *options]
    said = CliRunner().invoke(app, arguments, catch_exceptions=False).output
    found: dict[str, Any] = json.loads(said.splitlines()[-1])
    return found


def test_sessions_that_teach_make_the_later_ones_hit(tmp_path: Path) -> None:
    trace = tmp_path / "events.jsonl"
    lines = (encode(event, seq) for session in OTHERS for seq, event in enumerate(session.events))
    trace.write_bytes(b"".join(lines))
    plain, online = report(trace), report(trace, "--online")
    assert (plain["online"], online["online"]) == (False, True)
    assert plain["first_time"]["top1"] == 0.0
    assert online["first_time"]["top1"] > 0.0
