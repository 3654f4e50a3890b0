"""Which files are meant, in folders and where agents keep their logs, and files told by themselves."""

from pathlib import Path

import pytest

from paste_proxy.errors import InputFault
from paste_proxy.importers import detection
from paste_proxy.importers.formats import FORMATS, files_of
from paste_proxy.importers.records import Corrupt
from tests.importers.logs import write
from tests.importers.scripted import EXAMPLE
from tests.importers.writers import WRITERS


@pytest.mark.parametrize(
    ("form", "variable", "below"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", "projects"),
        ("codex", "CODEX_HOME", "sessions"),
        ("opencode", "XDG_DATA_HOME", "opencode"),
        ("gemini-cli", "HOME", ".gemini/tmp"),
        ("qwen-code", "HOME", ".qwen/tmp"),
    ],
)
def test_logs_are_looked_for_where_their_agent_keeps_them(
    form: str, variable: str, below: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, str(tmp_path))
    assert tmp_path / below in FORMATS[form].homes()
    assert FORMATS[form].kept() == []
    write_in, _ = WRITERS["gemini-cli" if form == "qwen-code" else form]
    made = write_in(tmp_path / "made", EXAMPLE)
    home = tmp_path / below
    kept = home / made.relative_to(tmp_path / "made")
    kept.parent.mkdir(parents=True, exist_ok=True)
    made.rename(kept)
    assert FORMATS[form].kept() == [home]
    assert files_of(FORMATS[form], [home]) == [kept]


@pytest.mark.parametrize("form", FORMATS)
def test_a_path_or_a_folder_without_logs_says_what_was_looked_for(form: str, tmp_path: Path) -> None:
    with pytest.raises(InputFault, match=r"nowhere: no such file; expected "):
        files_of(FORMATS[form], [tmp_path / "nowhere"])
    (tmp_path / "notes.md").touch()
    with pytest.raises(InputFault) as fault:
        files_of(FORMATS[form], [tmp_path])
    assert fault.value.expected == FORMATS[form].looked_for


def test_a_file_is_read_once_however_it_is_named(tmp_path: Path) -> None:
    log = write(tmp_path / "a.jsonl", {"type": "summary"})
    (tmp_path / "link.jsonl").symlink_to(log)
    assert len(files_of(FORMATS["claude-code"], [tmp_path, log])) == 1


def test_a_folder_of_everything_is_read_form_by_form(tmp_path: Path) -> None:
    for form, (write_in, _) in WRITERS.items():
        write_in(tmp_path / form, EXAMPLE)
    (tmp_path / "package.json").write_text('{"name": "something else"}')
    (tmp_path / "empty.jsonl").touch()
    sessions = list(detection.read([tmp_path], Corrupt()))
    assert {Path(session.source).relative_to(tmp_path).parts[0] for session in sessions} == set(WRITERS)
    assert len(sessions) == len(WRITERS)


def test_a_named_file_of_no_known_form_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "package.json"
    path.write_text('{"name": "something else"}')
    with pytest.raises(InputFault, match=r"package\.json: of no form that is known; expected logs of neutral, claude"):
        list(detection.read([path], Corrupt()))


def test_a_first_line_that_tells_nothing_does_not_hide_the_form(tmp_path: Path) -> None:
    path = WRITERS["claude-code"][0](tmp_path, EXAMPLE)
    path.write_text('{"type": "of tomorrow"}\n{"broken\n' + path.read_text())
    form = detection.form_of(path)
    assert form is not None
    assert form.name == "claude-code"
