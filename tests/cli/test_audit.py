"""The audit of an event log, as people and programs read it."""

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from paste_proxy.cli.main import app
from paste_proxy.errors import InputFault
from paste_proxy.events.codec import encode
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.types import Event, Outcome, Refusals, Speculation, UserMessage, Why

EVENTS: list[Event] = [
    UserMessage(session="s", ts=1_000.0, text='say "speculation"'),
    Speculation(
        session="s",
        ts=1_001.0,
        invocation=Invocation("web/fetch", {"url": "https://example.com/" + "x" * 80}),
        source="p1",
        confidence=0.5,
        outcome=Outcome.DISCARDED,
        ran_s=2.0,
        saved_s=0.0,
        why=Why.UNASKED,
        rule="web.toml: rule 1",
        utility=0.75,
        benefit_s=1.5,
        cost=0.25,
    ),
    Refusals(session="t", ts=1_002.0, tool="mail/send", reason="policy", rule="", count=4, writes=True),
]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    folder = tmp_path / "events"
    folder.mkdir()
    lines = b"".join(encode(event, number) for number, event in enumerate(EVENTS))
    (folder / "events-20260301T000000Z-0000.jsonl").write_bytes(lines + b'{"type":"speculation", torn')
    return folder


def told(*words: str) -> str:
    result = CliRunner().invoke(app, ["audit", *words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_people_see_the_records_and_what_they_add_up_to(log: Path) -> None:
    shown = told(str(log))
    assert "by p1 (0.50); utility 0.75, benefit 1.50 s; web.toml: rule 1; discarded (unasked); ran 2.00 s" in shown
    assert "refused 4 of mail/send: policy" in shown
    assert "run ahead: 1 jobs, 0 asked for; ran 2.00 s, saved 0.00 s, for nothing 2.00 s, cost 0.25" in shown
    assert "side-effecting candidates refused: 4" in shown


def test_programs_get_one_object(log: Path) -> None:
    report = json.loads(told(str(log), "--json"))
    assert (report["ran"]["jobs"], report["refused"]["side_effecting"], report["bad_lines"]) == (1, 4, 0)
    assert [record["type"] for record in report["records"]] == ["speculation", "refusals"]
    assert json.loads(told(str(log), "--json", "--session", "t", "--records", "0"))["ran"]["jobs"] == 0
    assert json.loads(told(str(log), "--json", "--tool", "web/*"))["refused"]["count"] == 0


def test_only_the_latest_if_that_is_asked_for(log: Path) -> None:
    assert json.loads(told(str(log), "--json", "--since", "1h"))["ran"]["jobs"] == 0
    (file,) = log.iterdir()
    os.utime(file, (1_000, 1_000))
    assert json.loads(told(str(log), "--json", "--since", "90s"))["records"] == []
    assert CliRunner().invoke(app, ["audit", str(log), "--since", "soon"]).exit_code == 2


def test_the_config_says_where_the_log_is(log: Path) -> None:
    config = log.parent / "paste.toml"
    config.write_text('[recording]\ndirectory = "events"\n')
    assert json.loads(told("--config", str(config), "--json"))["ran"]["jobs"] == 1
    config.write_text("")
    with pytest.raises(InputFault, match="nothing is recorded"):
        told("--config", str(config))


def test_what_is_no_log_is_named(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "none"):
        with pytest.raises(InputFault, match=str(place)):
            told(str(place))
