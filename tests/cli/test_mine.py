"""`paste-proxy mine`: what it learns from, and where it runs."""

import json
import os
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from paste_proxy.cli.mine import mine
from paste_proxy.cli.mined import tell
from paste_proxy.errors import InputFault
from paste_proxy.events.codec import encode
from paste_proxy.mining.held_out import HeldOut
from paste_proxy.mining.pool import Origin, Pool
from tests.cluster.jobs import sessions

app = typer.Typer()
app.command()(mine)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "events.jsonl"
    lines = (encode(event, seq) for session in sessions() for seq, event in enumerate(session.events))
    path.write_bytes(b"".join(lines))
    return path


def ran(*arguments: str | Path) -> str:
    return CliRunner().invoke(app, [*map(str, arguments)], catch_exceptions=False, standalone_mode=False).output


def refused(*arguments: str | Path) -> str:
    with pytest.raises(InputFault) as fault:
        ran(*arguments)
    return str(fault.value)


def test_a_sample_says_of_what_it_is_one(trace: Path, tmp_path: Path) -> None:
    pool = tmp_path / "pool.json"
    said = ran(trace, "-o", pool, "--calls", "48")
    assert "from 16 sessions of 8 tasks\nthey are a sample of 24 sessions, of whole tasks, with 48 calls" in said
    mined = json.loads(pool.read_text())["mined"]
    assert (mined["sessions"], mined["sampled_from"], mined["calls"], len(mined["ids"])) == (16, 24, 48, 16)


def test_all_are_learned_from_where_they_are_few(trace: Path, tmp_path: Path) -> None:
    pool = tmp_path / "pool.json"
    assert "a sample" not in ran(trace, "-o", pool)
    assert "sampled_from" not in json.loads(pool.read_text())["mined"]


def test_a_sample_is_of_what_is_not_excluded(trace: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_bytes(b"".join(encode(event, seq) for seq, event in enumerate(sessions()[0].events)))
    said = ran(trace, "--exclude", other, "-o", tmp_path / "pool.json", "--calls", "48")
    assert "left out 2 of 24 sessions" in said
    assert "a sample of 22 sessions" in said


def test_too_small_a_sample_is_refused(trace: Path, tmp_path: Path) -> None:
    assert "--calls 2: every session has more" in refused(trace, "-o", tmp_path / "pool.json", "--calls", "2")


def test_two_processes_write_the_same_file(trace: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    ran(trace, "-o", one)
    ran(trace, "-o", two, "--processes", "2")
    assert two.read_bytes() == one.read_bytes()


def test_a_pipe_is_refused_since_it_is_read_twice(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert f"{pipe}: can be read once only" in refused(pipe, "-o", tmp_path / "pool.json")


def test_ray_has_processes_of_its_own(trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_ray: list[str | Path] = [trace, "-o", tmp_path / "pool.json", "--engine", "ray"]
    assert "--processes: given with --engine ray" in refused(*on_ray, "--processes", "2")
    monkeypatch.setitem(sys.modules, "ray", None)
    assert "paste-proxy[cluster]" in refused(*on_ray)


def test_a_pool_for_any_tool_names_none(trace: Path, tmp_path: Path) -> None:
    pool = tmp_path / "pool.json"
    said = ran(trace, "-o", pool, "--any-tool")
    assert "what holds for any tool, and no pattern on purpose, from 24 sessions of 12 tasks" in said
    written = json.loads(pool.read_text())
    assert (written["patterns"], written["tools"], written["model"]["shapes"]) == ([], {}, {})


def test_secrets_that_another_program_recorded_are_not_in_the_pool(tmp_path: Path) -> None:
    trace, key = tmp_path / "sessions.jsonl", "sk-proj-Zq7CanaryZq7CanaryZq7"
    lines = []
    for at in range(6):
        session = {"session": f"s{at}", "ts": None, "source": "elsewhere"}
        call = {"tool": "fetch", "call_id": "c"}
        args = {"url": "https://api.example.com/orders", "header": f"Authorization: Bearer {key}"}
        lines += [
            {**session, "seq": 0, "type": "user", "output": f"get the orders of shop number {at} with {key}"},
            {**session, "seq": 1, "type": "tool_call", **call, "args": args},
            {**session, "seq": 2, "type": "tool_output", **call, "output": {"used": key}},
        ]
    trace.write_text("".join(json.dumps(line) + "\n" for line in lines))
    pool = tmp_path / "pool.json"
    ran(trace, "-o", pool)
    assert "fetch" in pool.read_text()
    assert not any(trace in pool.read_text().lower() for trace in ("zq7", "redacted"))


@pytest.mark.parametrize(
    "argument",
    [
        'header = { constant = "Bearer sk-proj-Zq7CanaryZq7CanaryZq7" }',
        'password = { constant = "hunter2" }',
        'command = { from = "user", take = "url", frame = "curl -u bob:hunter2 {}" }',
        'command = { text = "curl -u bob:hunter2 {u}", holes.u = { from = "user", take = "url" } }',
    ],
)
def test_a_pattern_by_people_with_a_secret_in_it_goes_into_no_pool(trace: Path, tmp_path: Path, argument: str) -> None:
    by_hand = tmp_path / "by_hand.toml"
    by_hand.write_text(f'[[pattern]]\nid = "mine"\ntool = "t"\nconfidence = 0.5\narguments.{argument}\n')
    said = refused(trace, "-o", tmp_path / "pool.json", "--patterns", by_hand)
    assert "by_hand.toml: mine: what looks like a secret" in said
    assert "hunter2" not in said


def test_a_pattern_by_people_may_say_where_a_secret_comes_from(trace: Path, tmp_path: Path) -> None:
    by_hand = tmp_path / "by_hand.toml"
    argument = 'access_token = { from = "output", tool = "login", take = "/access_token" }'
    by_hand.write_text(f'[[pattern]]\nid = "mine"\ntool = "t"\nconfidence = 0.5\narguments.{argument}\n')
    assert "never bound" in ran(trace, "-o", tmp_path / "pool.json", "--patterns", by_hand)


def test_a_pattern_by_people_is_for_one_tool(trace: Path, tmp_path: Path) -> None:
    by_hand: list[str | Path] = ["--patterns", tmp_path / "by_hand.toml"]
    assert "--any-tool: given with --patterns" in refused(trace, "-o", tmp_path / "pool.json", "--any-tool", *by_hand)


@pytest.mark.parametrize(("tasks", "rough"), [(19, True), (20, False)])
def test_of_few_tasks_the_odds_are_said_to_be_rough(
    tasks: int, rough: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    tell(Pool(origin=Origin(sessions=tasks, groups=tasks)), HeldOut(100, 5, 6.0), [], Path("pool.json"))
    said = capsys.readouterr().out
    assert "100 calls predicted, 5% of them came within 8 turns, 6% were expected to. Every candidate counts" in said
    assert (f"odds from so few tasks, {tasks}, are rough" in said) == rough


def test_of_a_folder_that_is_not_there_it_is_said_which_files_are_meant(tmp_path: Path) -> None:
    said = refused(tmp_path / "nowhere", "-o", tmp_path / "pool.json")
    assert "nowhere: no such file; expected event lines in .jsonl or .jsonl.gz files" in said
