"""Which commands of a shell are known to do nothing but read, and that a shell takes them for the same."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paste_proxy.speculation.plain_commands import pipeline
from paste_proxy.speculation.reading_commands import reading_command
from paste_proxy.speculation.reading_programs import NAMES, reading

READING = [
    "grep -rn 'a b' src | sort | uniq -c | head -5",
    "grep -rn --include='*.py' def . | wc -l",
    "find . -name '*.py' -not -path '*node_modules*' | wc -l",
    "find . -maxdepth 2 -type d",
    "cat a | head -1",
    "ls",
    "ls -la src tests",
    "wc -l a b",
    "du -sh .",
    "du -d 1",
    "sort -t, -k2,2n a",
    "cut -d ' ' -f 1-3 a | tr a-z A-Z",
    'grep "^class" a',
    "grep -A3 -m 1 x a",
    "cat a | tail -n +2",
]
NOT_PLAINLY = [
    *("", " ls", "ls ", "ls  a", "ls\n", "ls\t-l", "cat a", "rm a", "ls; rm a", "ls && rm a", "ls || rm a", "ls |& rm"),
    *("ls |", "| ls", "ls |wc", "ls & rm a", "ls\nrm a", "grep x `rm a`", "grep x $(rm a)", "grep $HOME a"),
    *("grep x a > b", "sort < a", "grep x <(rm a)", "A=1 ls", "./ls", "/tmp/ls", "xargs rm", "env", "date"),
    *("ls *", "ls a?", "ls [ab]", "ls {a,b}", "ls ~", "ls \\\n-la", "ls !!", "ls #a", "ls a\\ b", "grep 'x"),
    *("find . '|' grep -delete", "sort a '|' grep -o out", "tail a '|' ls -f", "find . '|' ls -exec", 'ls "|" rm'),
    *("sort -o a b", "sort '-o' a b", "sort -ro a b", "sort a -oa", "sort --output=a b", "sort -R a", "sort -T . a"),
    *("uniq a b", "ls | uniq b", "find . -delete", "find . '-delete'", "find . -exec rm", "find . -fprint a"),
    *("find . -okdir rm", "find -L .", "find . -name -delete", "find . -newermt now", "find . -mmin -1"),
    *("find . -amin 1", "ls -lu", "ls -L", "tail -f a | head", "tail -F a | head", "grep -R x .", "grep -f a b"),
    *("grep -e x a", "grep x", "grep x -", "wc -l -", "head -n -f a", "sed -n w/a b", "awk 1 a", "diff -r a b"),
    *("grep --include x a", "grep --include= x a", "du --files0-from=a", "wc --files0-from=a", "tr a b", "ls --help"),
    *("wc /dev/kmsg", "wc //dev/kmsg", "cat /tmp/../proc/kmsg | wc", "ls ../dev", "grep -r x /"),
]


@pytest.mark.parametrize("command", READING)
def test_pipelines_of_reading_programs_only_read(command: str) -> None:
    assert reading(command) is not None


@pytest.mark.parametrize("command", NOT_PLAINLY)
def test_what_is_not_plainly_reading_is_not(command: str) -> None:
    assert reading(command) is None


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


STUB = f"""#!{sys.executable} -IS
import os, sys
said = os.open(os.environ["SAID"], os.O_WRONLY | os.O_APPEND)
os.write(said, "\\0".join([os.path.basename(sys.argv[0]), *sys.argv[1:]]).encode("utf-8", "surrogateescape") + b"\\n")
"""
QUOTABLE = st.text("ab-.*=^ /", max_size=4)
PARTS = st.one_of(
    st.text("ab-._/,:@%+=", min_size=1, max_size=4), QUOTABLE.map("'{}'".format), QUOTABLE.map('"{}"'.format)
)
SPOILED = st.sampled_from(
    ["'", '"', "\\", "$x", "$'a'", "|", "~", "#", "!", "{a,b}", "`", ";", "\t", "é", "'|'", "*", "()"]
)
WORDS = st.lists(PARTS | SPOILED, min_size=1, max_size=3).map("".join)
LINES = st.lists(
    st.tuples(st.sampled_from(sorted(NAMES)), st.lists(WORDS, max_size=4)).map(
        lambda said: " ".join((said[0], *said[1]))
    ),
    min_size=1,
    max_size=3,
).map(" | ".join)


@pytest.fixture(scope="module")
def stubs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of programs that say what they were given."""
    folder = tmp_path_factory.mktemp("stubs")
    for name in NAMES:
        (folder / name).write_text(STUB)
        (folder / name).chmod(0o755)
    return folder


@settings(max_examples=150, deadline=None)
@given(line=LINES)
def test_a_shell_gives_programs_the_words_that_were_read(line: str, stubs: Path) -> None:
    stages = pipeline(line)
    if stages is None or any(stage[0] not in NAMES for stage in stages):
        return
    said = stubs / "said"
    said.write_bytes(b"")
    env = {"PATH": str(stubs), "SAID": str(said)}
    done = subprocess.run(["/bin/bash", "-c", line], env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=20)
    assert (done.returncode, done.stderr) == (0, b"")
    assert sorted(said.read_text().splitlines()) == sorted("\0".join(stage) for stage in stages)


PROGRAMS = [*sorted(NAMES), "rm", "touch", "tee"]
PIECES = [
    "a",
    "b",
    ".",
    "out",
    "'|'",
    '"|"',
    "|",
    "|",
    "||",
    ">",
    ">out",
    ";",
    "&",
    "&&",
    "$(touch out)",
    "`touch out`",
]
PIECES += [
    "\n",
    "*",
    "-",
    "--",
    "-o",
    "-oout",
    "'-o'",
    "-ro",
    "-delete",
    "'-delete'",
    "-c",
    "-n",
    "-exec",
    "touch",
    "{}",
]
PIECES += [
    "+",
    "-fprint",
    "-fls",
    "-ok",
    "--output=out",
    "-r",
    "-name",
    "'*'",
    "-rn",
    "-type",
    "f",
    "-1",
    "-k",
    "1",
    "-T",
]
PIECES += [
    "../marker",
    "-f",
    "\\",
    "#",
    "~",
    "{a,out}",
    "'a b'",
    "-i",
    "-w",
    "-d",
    ",",
    "-size",
    "+0",
    "-print",
    "-not",
]


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(PROGRAMS), st.lists(st.sampled_from(PIECES + PROGRAMS), max_size=7))
def test_whatever_is_taken_for_reading_leaves_everything_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, program: str, words: list[str]
) -> None:
    command = " ".join((program, *words))
    if reading(command) is None:
        return
    root = tmp_path_factory.mktemp("root")
    folder = root / "folder"
    (folder / "b").mkdir(parents=True)
    for name in ("a", "b/a", "-o", "--output=out", "-delete", "1", "../marker"):
        (folder / name).write_text("x\n")
    before = tree(root)
    env = {"PATH": os.defpath, "HOME": str(root)}
    subprocess.run(
        ["/bin/bash", "-c", command], cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=20
    )
    assert tree(root) == before
    shutil.rmtree(root)


def tree(root: Path) -> dict[Path, tuple[bytes, int]]:
    return {
        path: (path.read_bytes() if path.is_file() else b"", path.stat().st_mtime_ns)
        for path in sorted(root.rglob("*"))
    }
