"""`import` writes event lines that read back as the sessions they came from."""

import json
import stat
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from paste_proxy.cli.import_ import import_
from paste_proxy.errors import InputFault
from paste_proxy.importers.neutral import read_sessions
from paste_proxy.share import share

TRACE = share("traces") / "tau_airline.jsonl.gz"

app = typer.Typer()
app.command()(import_)


def run(*arguments: str | Path) -> tuple[int, str, str]:
    """Exit code, standard output and standard error; a fault is raised."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def line(text: str) -> str:
    return json.dumps({"session": "s", "seq": 0, "type": "user", "output": text}) + "\n"


def test_sessions_come_back_from_the_file_written(tmp_path: Path) -> None:
    out, recorded = tmp_path / "events.jsonl", read_sessions([TRACE])
    code, said, _ = run("neutral", TRACE, "-o", out)
    assert (code, said) == (0, f"{len(recorded)} sessions, {sum(len(s.events) for s in recorded)} events\n")
    assert [(s.id, s.events) for s in read_sessions([out])] == [(s.id, s.events) for s in recorded]
    assert stat.S_IMODE(out.stat().st_mode) == 0o600


def test_standard_output_holds_the_lines_and_nothing_else(tmp_path: Path) -> None:
    trace = tmp_path / "one.jsonl"
    trace.write_text(line("hello"))
    code, said, beside = run("neutral", trace, "-o", "-")
    assert [json.loads(entry)["text"] for entry in said.splitlines()] == ["hello"]
    assert (code, beside) == (0, "1 sessions, 1 events\n")


def test_secrets_are_not_written(tmp_path: Path) -> None:
    trace, out = tmp_path / "one.jsonl", tmp_path / "out.jsonl"
    trace.write_text(line("my password: hunter22"))
    run("neutral", trace, "-o", out)
    assert "hunter22" not in out.read_text()


def test_a_corrupt_line_stops_or_is_counted_and_leaves_no_half_written_file(tmp_path: Path) -> None:
    trace, out = tmp_path / "one.jsonl", tmp_path / "out.jsonl"
    trace.write_text(line("a") + "{broken\n" + '{"torn')
    with pytest.raises(InputFault, match=r"one\.jsonl:2: "):
        run("neutral", trace, "-o", out)
    assert not out.exists()
    code, said, _ = run("neutral", trace, "-o", out, "--skip-bad")
    assert (code, said) == (0, "1 sessions, 1 events, 1 corrupt lines left out, 1 files with a torn last line\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.jsonl", "out.jsonl"]


def test_an_event_too_deep_to_write_is_named(tmp_path: Path) -> None:
    trace = tmp_path / "deep.jsonl"
    output = '{"password":' * 950 + "1" + "}" * 950
    call = {"session": "deep one", "seq": 0, "type": "tool_output", "tool": "t", "output": "?"}
    trace.write_text(json.dumps(call).replace('"?"', output) + "\n")
    with pytest.raises(InputFault, match=r"session 'deep one', event 0: .*nested too deeply"):
        run("neutral", trace, "-o", tmp_path / "out")


def test_no_event_at_all_is_a_failed_check(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    code, _, beside = run("neutral", tmp_path / "empty.jsonl", "-o", tmp_path / "out")
    assert code == 1
    assert "no event was found" in beside


@pytest.mark.parametrize(
    ("form", "out", "reason"),
    [("bananas", "out", r"'bananas'; expected one of neutral"), ("neutral", "no/where", r"-o .*cannot be written")],
)
def test_a_wrong_option_says_what_was_expected(tmp_path: Path, form: str, out: str, reason: str) -> None:
    with pytest.raises(InputFault, match=reason):
        run(form, TRACE, "-o", tmp_path / out)
