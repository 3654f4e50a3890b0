"""`grep`: lines that match."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from paste_proxy.tools.workbench.search_process import search
from paste_proxy.tools.workbench.searching import Grep, grep
from paste_proxy.tools.workbench.workspace import Unable, Workspace
from tests.tools.workbench.bench import Bench

FOREVER = "(x+x+)+y"


@pytest.fixture
def tree(bench: Bench) -> Bench:
    (bench.root / "src").mkdir()
    (bench.root / "src" / "a.py").write_bytes(b"def one():\r\n    pass\r\n\r\ndef two():\r\n")
    (bench.root / "src" / "b.txt").write_text("one\nOne\n(one)\n")
    (bench.root / "caf.txt").write_bytes(b"caf\xe9 one\n")
    (bench.root / "bin").write_bytes(b"one\0")
    (bench.root / "out.log").write_text("one\n")
    (bench.root / ".gitignore").write_text("*.log\n")
    return bench


async def test_lines_files_and_counts(tree: Bench) -> None:
    assert (await tree.ask("grep", pattern="one")).split("\n") == [
        "caf.txt:1:café one",
        "src/a.py:1:def one():",
        "src/b.txt:1:one",
        "src/b.txt:3:(one)",
    ]
    assert await tree.ask("grep", pattern="^def", output="files") == "src/a.py"
    assert await tree.ask("grep", pattern="^one", ignore_case=True, output="counts") == "src/b.txt:2"
    assert await tree.ask("grep", pattern="(one)", literal=True) == "src/b.txt:3:(one)"
    assert await tree.ask("grep", pattern="one$", glob="*.{txt,md}", path="src") == "src/b.txt:1:one"
    assert await tree.ask("grep", pattern="one", path="src/a.py") == "src/a.py:1:def one():"
    assert await tree.ask("grep", pattern="zzz") == "[no match]"


ALONE = [r"(?<!a)", r"(?=b)", r"(?!\n)", r"\A", r"\Z", r"\b", r"\B", r"a*+", r"(?>a\s*)", r"\\A"]
PIECES = st.sampled_from(["a", "b", "^", "$", ".", "x", "a?", "(a|b)", r"\s", r"\s*", "[^a]*", "(?i:A)", *ALONE])


@settings(
    max_examples=400, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(pattern=st.lists(PIECES, min_size=1, max_size=4).map("".join), text=st.text("ab\n ", max_size=12))
@example(pattern="a\\s*+b", text="a\nab")
@example(pattern="(?<!\n)a", text="b\na")
@example(pattern="^$", text="")
def test_each_line_is_looked_at_as_if_it_stood_alone(tmp_path: Path, pattern: str, text: str) -> None:
    (tmp_path / "f").write_text(text)
    asked = {**Grep.model_validate({"pattern": pattern}).model_dump(), "root": str(tmp_path), "start": str(tmp_path)}
    lines = text.removesuffix("\n").split("\n") if text else []
    hits = [f"f:{number}:{line}" for number, line in enumerate(lines, 1) if re.search(pattern, line)]
    assert search(asked) == ("\n".join(hits) or "[no match]")


async def test_what_is_ignored_is_searched_only_when_asked_for(tree: Bench) -> None:
    assert "out.log" not in await tree.ask("grep", pattern="one")
    assert "out.log:1:one" in await tree.ask("grep", pattern="one", ignored=True)
    assert await tree.ask("grep", pattern="one", path="out.log") == "out.log:1:one"


async def test_lines_around_a_match(tree: Bench) -> None:
    (tree.root / "c").write_text("".join(f"{number}\n" for number in range(1, 21)))
    assert (await tree.ask("grep", pattern="^(5|7|15)$", path="c", context=1)).split("\n") == [
        *("c-4-4", "c:5:5", "c-6-6", "c:7:7", "c-8-8", "--", "c-14-14", "c:15:15", "c-16-16")
    ]


async def test_much_is_bounded_and_says_so(tree: Bench) -> None:
    (tree.root / "much").write_text("hit\n" * 5_000)
    *lines, last = (await tree.ask("grep", pattern="hit", limit=10)).split("\n")
    assert (len(lines), last) == (10, "[there are more than 10 matches; raise limit, or narrow the path or the glob]")
    (tree.root / "wide").write_text(("hit" * 1_000 + "\n") * 500)
    *lines, last = (await tree.ask("grep", pattern="hit", path="wide", limit=1_000)).split("\n")
    assert last.startswith("[cut here")
    assert all(len(line) < 600 for line in lines)
    *_, last = (await tree.ask("grep", pattern=".", output="files", limit=2)).split("\n")
    assert last == "[there are more than 2 such files; raise limit, or narrow the search]"


@pytest.mark.parametrize("pattern", ["(", "[a", "*", "a{9999999999999}", "(?P<x>"])
async def test_what_is_no_expression_is_told(tree: Bench, pattern: str) -> None:
    said = await tree.fails("grep", pattern=pattern)
    assert "is not a regular expression" in said
    assert "literal = true" in said


async def test_an_expression_that_takes_forever_is_stopped(tree: Bench) -> None:
    (tree.root / "xs").write_text("x" * 5_000)
    with pytest.raises(Unable, match="was not done within 1 s"):
        await grep(Workspace(tree.root), Grep.model_validate({"pattern": FOREVER}), timeout_s=1)
    assert children() == []


async def test_a_search_that_is_cancelled_leaves_no_process(tree: Bench) -> None:
    (tree.root / "xs").write_text("x" * 5_000)
    asking = asyncio.create_task(tree.result("grep", pattern=FOREVER))
    async with asyncio.timeout(20):
        while not children():  # noqa: ASYNC110 - a process of its own has no event for us
            await asyncio.sleep(0.01)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert children() == []


async def test_a_search_that_breaks_off_is_told(tree: Bench) -> None:
    (tree.root / "xs").write_text("x" * 5_000)
    asking = asyncio.create_task(tree.fails("grep", pattern=FOREVER))
    async with asyncio.timeout(20):
        while not children():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    os.kill(children()[0], signal.SIGKILL)
    assert "broke off" in await asking


async def test_modules_in_the_workspace_are_not_taken_for_ours(tree: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("json.py", "re.py", "paste_proxy.py"):
        (tree.root / name).write_text("raise SystemExit('taken')")
    monkeypatch.chdir(tree.root)
    assert await tree.ask("grep", pattern="^def", output="files") == "src/a.py"


def children() -> list[int]:
    """Processes of ours that search."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line, parent = (
                (folder / "cmdline").read_bytes(),
                (folder / "stat").read_text().rpartition(")")[2].split()[1],
            )
        except OSError:
            continue
        if b"search_process" in line and int(parent) == os.getpid():
            found.append(int(folder.name))
    return found


def test_a_search_whose_server_was_killed_does_not_go_on_for_ever(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x" * 40 + "\n")
    asked = {**Grep.model_validate({"pattern": FOREVER}).model_dump(), "root": str(tmp_path), "start": str(tmp_path)}
    program = "from paste_proxy.tools.workbench import search_process as it; it._CPU_S = 1; it._main()"
    ended = subprocess.run([sys.executable, "-c", program], input=json.dumps(asked).encode(), timeout=100, check=False)
    assert ended.returncode == -signal.SIGKILL
