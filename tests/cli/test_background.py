"""What mining starts from, as `mine` and `bench predict` name it."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from paste_proxy.cli.main import app as every_command
from paste_proxy.cli.mine import mine
from paste_proxy.errors import InputFault
from paste_proxy.events.codec import encode
from paste_proxy.share import share
from tests.mining.sessions import Session
from tests.mining.test_background import SETS, reading

app = typer.Typer()
app.command()(mine)


def recorded(path: Path, sessions: list[Session]) -> Path:
    path.write_bytes(b"".join(encode(event, seq) for one in sessions for seq, event in enumerate(one.events)))
    return path


@pytest.fixture
def sets(tmp_path: Path) -> list[Path]:
    return [recorded(tmp_path / f"{at}.jsonl", sessions) for at, sessions in enumerate(SETS)]


def ran(*arguments: str | Path) -> str:
    return CliRunner().invoke(app, [*map(str, arguments)], catch_exceptions=False, standalone_mode=False).output


def refused(*arguments: str | Path) -> str:
    with pytest.raises(InputFault) as fault:
        ran(*arguments)
    return str(fault.value)


def test_sets_teach_a_background_that_mining_starts_from(sets: list[Path], tmp_path: Path) -> None:
    background, with_it, without = (tmp_path / f"{name}.json" for name in ("background", "with", "without"))
    assert "from 32 sessions of 2 sets" in ran(*sets[1:], "-o", background, "--as-background")
    ran(sets[0], "-o", with_it, "--background", background)
    ran(sets[0], "-o", without, "--background", "none")
    assert json.loads(with_it.read_text())["model"]["next"] != json.loads(without.read_text())["model"]["next"]


def test_without_a_word_it_is_the_one_of_the_package(sets: list[Path], tmp_path: Path) -> None:
    unsaid, said = tmp_path / "unsaid.json", tmp_path / "said.json"
    ran(sets[0], "-o", unsaid)
    ran(sets[0], "-o", said, "--background", "builtin:background")
    assert said.read_bytes() == unsaid.read_bytes()


def test_judging_sessions_that_it_knows_is_said(sets: list[Path], tmp_path: Path) -> None:
    background = tmp_path / "background.json"
    ran(*sets[1:], "-o", background, "--as-background")
    judge = ["bench", "predict", "--folds", "2", "--background", str(background)]
    others = recorded(tmp_path / "others.jsonl", [reading(at, "search_a", "read_a") for at in range(50, 60)])
    known, replayed, strange = (
        CliRunner().invoke(every_command, [*judge, str(path)]) for path in (sets[1], sets[0], others)
    )
    assert "learned from all of these sessions: the figures flatter it; --background names another" in known.stderr
    assert "learned from the tasks of 16 sessions under other names: the figures flatter it" in replayed.stderr
    assert "learned from" not in strange.stderr


def test_one_set_is_no_background(sets: list[Path], tmp_path: Path) -> None:
    assert "--as-background: one set" in refused(sets[0], "-o", tmp_path / "background.json", "--as-background")


def test_it_is_learned_alone(sets: list[Path], tmp_path: Path) -> None:
    command: list[str | Path] = [*sets, "-o", tmp_path / "background.json", "--as-background"]
    assert "--as-background: given with" in refused(*command, "--any-tool")
    assert "--as-background: given with" in refused(*command, "--background", "none")


def test_a_pool_is_no_background(sets: list[Path], tmp_path: Path) -> None:
    pool = share("patterns") / "general.json"
    assert "general.json: format" in refused(sets[0], "-o", tmp_path / "pool.json", "--background", pool)
    said = refused(sets[0], "-o", tmp_path / "pool.json", "--background", "builtin:general")
    assert "expected one of builtin:{background}" in said
