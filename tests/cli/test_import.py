"""`import` writes event lines that read back as the sessions they came from, and that can be mined."""

import json
import re
import stat
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from paste_proxy.cli.evaluate import evaluate
from paste_proxy.cli.import_ import import_
from paste_proxy.cli.mine import mine
from paste_proxy.errors import InputFault
from paste_proxy.importers.formats import FORMATS
from paste_proxy.importers.neutral import read_sessions
from paste_proxy.share import share
from tests.importers.scripted import EXAMPLE, SESSION
from tests.importers.writers import WRITERS

TRACE = share("traces") / "tau_airline.jsonl.gz"

app = typer.Typer()
app.command()(import_)
all_three = typer.Typer()
all_three.command("mine")(mine)
all_three.command("evaluate")(evaluate)


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
    assert (code, beside) == (0, "1 session, 1 event\n")


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
    assert (code, said) == (0, "1 session, 1 event, 1 corrupt line left out, 1 file with a torn last line\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.jsonl", "out.jsonl"]


@pytest.mark.parametrize("form", ["neutral", "auto"])
def test_what_is_read_is_not_written_over(form: str, tmp_path: Path) -> None:
    trace, link = tmp_path / "one.jsonl", tmp_path / "link.jsonl"
    trace.write_text(line("a"))
    link.symlink_to(trace)
    for given, out in ((trace, trace), (link, trace), (tmp_path, trace), (trace, link)):
        with pytest.raises(InputFault, match=r"-o .*: is one of the files that are read; expected another file"):
            run(form, given, "-o", out)
    assert trace.read_text() == line("a")


def test_a_pool_is_not_written_over_what_it_is_mined_from(tmp_path: Path) -> None:
    trace = tmp_path / "one.jsonl"
    trace.write_text(line("a"))
    for given in (trace, tmp_path):
        with pytest.raises(InputFault, match="is one of the files that are read"):
            CliRunner().invoke(
                all_three, ["mine", str(given), "-o", str(trace)], catch_exceptions=False, standalone_mode=False
            )
    assert trace.read_text() == line("a")


def test_another_s_file_beside_the_one_written_stays(tmp_path: Path) -> None:
    trace, out = tmp_path / "one.jsonl", tmp_path / "out.jsonl"
    trace.write_text(line("a"))
    beside = tmp_path / "out.jsonl.part"
    beside.write_text("another's")
    run("neutral", trace, "-o", out)
    pool = tmp_path / "pool.json"
    (tmp_path / "pool.json.part").write_text("another's")
    CliRunner().invoke(all_three, ["mine", str(out), "-o", str(pool)], catch_exceptions=False)
    assert beside.read_text() == (tmp_path / "pool.json.part").read_text() == "another's"
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("one.jsonl", "out.jsonl", "out.jsonl.part", "pool.json", "pool.json.part")
    ]
    assert stat.S_IMODE(pool.stat().st_mode) == stat.S_IMODE(trace.stat().st_mode)


def test_an_event_too_deep_to_write_is_named(tmp_path: Path) -> None:
    trace = tmp_path / "deep.jsonl"
    output = '{"password":' * 950 + "1" + "}" * 950
    call = {"session": "deep one", "seq": 0, "type": "tool_output", "tool": "t", "output": "?"}
    trace.write_text(json.dumps(call).replace('"?"', output) + "\n")
    with pytest.raises(InputFault, match=r"session 'deep one', event 0: .*nested too deeply"):
        run("neutral", trace, "-o", tmp_path / "out")
    trace.write_text(trace.read_text() + line("hello").replace('"s"', '"other"'))
    code, said, _ = run("neutral", trace, "-o", tmp_path / "out", "--skip-bad")
    assert (code, said) == (0, "2 sessions, 1 event, 1 corrupt line left out\n")


def test_no_event_at_all_is_a_failed_check(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    code, _, beside = run("neutral", tmp_path / "empty.jsonl", "-o", tmp_path / "out")
    assert code == 1
    assert not (tmp_path / "out").exists()
    assert "no session was found; looked for event lines in .jsonl or .jsonl.gz files" in beside


@pytest.mark.parametrize(
    ("form", "out", "reason"),
    [("bananas", "out", r"'bananas'; expected one of neutral"), ("neutral", "no/where", r"-o .*cannot be written")],
)
def test_a_wrong_option_says_what_was_expected(tmp_path: Path, form: str, out: str, reason: str) -> None:
    with pytest.raises(InputFault, match=reason):
        run(form, TRACE, "-o", tmp_path / out)


@pytest.mark.parametrize("asked", ["neutral", "codex", "claude-code", "gemini-cli", "swe-agent", "tau-bench"])
@pytest.mark.parametrize("form", WRITERS)
def test_a_log_of_another_form_is_named_and_leaves_no_file(form: str, asked: str, tmp_path: Path) -> None:
    path = WRITERS[form][0](tmp_path / "logs", EXAMPLE)
    try:
        code, _, said = run(asked, path, "-o", tmp_path / "out")
    except InputFault as fault:
        code, said = 2, str(fault)
    assert (code == 0) == (tmp_path / "out").exists()
    if asked == form:
        assert code == 0
    elif code:
        assert f"{path} is of the form {form}: `paste-proxy import {form}`, or `auto`" in said


@pytest.mark.parametrize("form", WRITERS)
def test_logs_that_are_no_event_lines_yet_are_told_how_to_become_some(form: str, tmp_path: Path) -> None:
    path = WRITERS[form][0](tmp_path / "logs", EXAMPLE)
    for command in (["mine", "-o", str(tmp_path / "pool")], ["evaluate", "--pool", "builtin:coding"]):
        with pytest.raises(InputFault, match=rf"a log of the form {form}; .*`paste-proxy import {form} {path} -o"):
            CliRunner().invoke(all_three, [*command, str(path)], catch_exceptions=False, standalone_mode=False)


def several(form: str, folder: Path, number: int) -> None:
    """Logs of as many sessions of different tasks."""
    for place in range(number):
        path = WRITERS[form][0](folder / str(place), EXAMPLE)
        told = path.read_text().replace(SESSION, f"{SESSION[:-2]}{place:02}")
        told = (
            re.sub(r'"u(\d+)"', rf'"{place}u\1"', told)
            .replace("its first word", f"word {place}")
            .replace('"7f"', f'"7f{place}"')
        )
        path.unlink()
        path.with_name(path.name.replace(SESSION, f"{SESSION[:-2]}{place:02}")).write_text(told)


@pytest.mark.parametrize("form", WRITERS)
def test_logs_of_every_form_are_imported_mined_and_evaluated(form: str, tmp_path: Path) -> None:
    several(form, tmp_path / "logs", 8)
    traces, pool = tmp_path / "traces.jsonl", tmp_path / "pool.json"
    code, said, _ = run(form, tmp_path / "logs", "-o", traces)
    assert (code, said.split(",")[0]) == (0, "8 sessions")
    assert CliRunner().invoke(all_three, ["mine", str(traces), "-o", str(pool)]).exit_code == 0
    result = CliRunner().invoke(all_three, ["evaluate", str(traces), "--pool", str(pool), "--json"])
    report = json.loads(result.stdout)
    assert (report["sessions"], report["calls"]) == (8, 40)
    assert report["top3"] > 0.5


def test_the_form_may_be_left_to_the_files(tmp_path: Path) -> None:
    for form in WRITERS:
        several(form, tmp_path / form, 1)
    code, said, _ = run("auto", tmp_path, "-o", tmp_path / "out")
    sessions = read_sessions([tmp_path / "out"])
    assert (code, said.split(",")[0]) == (0, f"{len(sessions)} sessions")
    assert {Path(session.source).name for session in sessions} == {"out"}


def test_without_a_path_an_agent_s_own_folder_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    with pytest.raises(InputFault, match=rf"PATH: missing; expected a PATH, or logs in {tmp_path}/sessions"):
        run("codex", "-o", tmp_path / "out")
    WRITERS["codex"][0](tmp_path, EXAMPLE)
    code, said, _ = run("codex", "-o", tmp_path / "out")
    assert (code, said.split(",")[0]) == (0, "1 session")


@pytest.mark.parametrize(
    ("form", "expected"), [("otel", "files or folders"), ("auto", "files or folders to look into")]
)
def test_a_form_that_has_no_place_of_its_own_needs_a_path(form: str, expected: str, tmp_path: Path) -> None:
    with pytest.raises(InputFault, match=f"PATH: missing; expected {expected}$"):
        run(form, "-o", tmp_path / "out")


def test_a_session_that_is_found_again_is_written_once(tmp_path: Path) -> None:
    for folder in ("one", "other"):
        WRITERS["tau-bench"][0](tmp_path / folder, EXAMPLE)
    code, said, _ = run("tau-bench", tmp_path, "-o", tmp_path / "out")
    assert (code, said) == (0, "1 session, 18 events, 1 session found twice\n")


def test_a_corrupt_line_of_a_log_is_named(tmp_path: Path) -> None:
    path = WRITERS["claude-code"][0](tmp_path, EXAMPLE)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:3], "{broken", *lines[3:], '{"torn']))
    with pytest.raises(InputFault, match=rf"{SESSION}\.jsonl:4: .*expected a JSON object on each line"):
        run("claude-code", path, "-o", tmp_path / "out")
    code, said, _ = run("claude-code", path, "-o", tmp_path / "out", "--skip-bad")
    assert (code, said) == (0, "1 session, 18 events, 1 corrupt line left out, 1 file with a torn last line\n")


def test_help_lists_every_form_and_where_its_logs_are() -> None:
    said = CliRunner().invoke(app, ["--help"]).stdout
    for form in FORMATS.values():
        assert form.name in said
        for _, folder, below in form.places:
            assert f"{folder}/{below}" in said
