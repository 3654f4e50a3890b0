"""Which commands of a shell are known to do nothing but read."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paste_proxy.speculation.reading_commands import only_reads, reading_command

READING = [
    "grep -rn 'a|b' src | sort | uniq -c | head -5",
    "find . -name '*.py' | wc -l",
    "cat a | head -1",
    "ls",
    "ls -la src tests",
    "wc -l *.py",
    "diff -u a b",
    "du -sh .",
    "sort -t, -k2,2n a",
    'grep "it\'s" a',
]
NOT_PLAINLY = [
    "",
    "cat a",
    "rm a",
    "ls; rm a",
    "ls && rm a",
    "ls || rm a",
    "ls |& rm",
    "ls |",
    "| ls",
    "ls & rm a",
    "ls\nrm a",
    "grep x `rm a`",
    "grep x $(rm a)",
    "grep $HOME a",
    "grep x a > b",
    "sort < a",
    "grep x <(rm a)",
    "sort -o a b",
    "sort --output=a b",
    "sort *",
    "sort -R a",
    "uniq a b",
    "find . -delete",
    "find . -name *.py",
    "find . -exec rm {} +",
    "find . -fprint a",
    "find . -okdir rm",
    "tail -f a | head",
    "grep x /dev/zero",
    "grep -r x /proc/self",
    "A=1 ls",
    "./ls",
    "/tmp/ls",
    "xargs rm",
    "env",
    "date",
    "sed -n w/a b",
    "awk 1 a",
    "grep 'x",
    "ls ~",
    "ls \\\n-la",
    "ls {a,b}",
]


@pytest.mark.parametrize("command", READING)
def test_pipelines_of_reading_programs_only_read(command: str) -> None:
    assert only_reads(command)


@pytest.mark.parametrize("command", NOT_PLAINLY)
def test_what_is_not_plainly_reading_is_not(command: str) -> None:
    assert not only_reads(command)


@pytest.mark.parametrize(
    ("tool", "more"),
    [
        ("Bash", {"run_in_background": True}),
        ("Bash", {"timeout": 1_000}),
        ("Bash", {"timeout": "long"}),
        ("Bash", {"dangerouslyDisableSandbox": True}),
        ("run_shell_command", {"dir_path": "src"}),
        ("run_shell_command", {"is_background": False}),
        ("fs/Bash", {}),
        ("exec", {}),
    ],
)
def test_a_call_that_asks_for_more_than_a_command_is_none(tool: str, more: dict[str, bool | int | str]) -> None:
    assert reading_command(tool, {"command": "ls", **more}) is None


def test_what_only_describes_a_call_does_not_count() -> None:
    assert reading_command("Bash", {"command": "ls", "description": "Look", "timeout": 120_000}) == "ls"
    assert reading_command("run_shell_command", {"command": "ls", "wait_for_previous": True}) == "ls"
    assert reading_command("Bash", {"command": ["ls"]}) is None
    assert reading_command("Bash", {}) is None


PIECES = ["ls", "grep", "sort", "uniq", "find", "cat", "a", "b", "-o", "-c", "-delete", "|", "||", " ", "'", '"']
PIECES += [">", ";", "&", "$(", ")", "`", "\n", "*", "-", "rm", "touch", "-fprint", "-exec", "\\", "#", "~", "{", "}"]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map(" ".join))
def test_whatever_is_taken_for_reading_leaves_a_folder_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, command: str
) -> None:
    if not only_reads(command):
        return
    folder = tmp_path_factory.mktemp("folder")
    for name in ("a", "b", "-o", "--output=c"):
        (folder / name).write_text("x\n")
    before = snapshot(folder)
    subprocess.run(
        ["/bin/bash", "-c", command], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False
    )
    assert snapshot(folder) == before


def snapshot(folder: Path) -> dict[Path, tuple[bytes, int]]:
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}
