"""Nothing outside of the workspace is read or written, and a wrong path is told of."""

import os
from pathlib import Path

import pytest

from tests.tools.workbench.bench import Bench

PATHS = ["../secret.txt", "sub/../../secret.txt", "link.txt", "folder-link/secret.txt"]


@pytest.fixture
def escapes(bench: Bench) -> Bench:
    (bench.root / "sub" / "deep").mkdir(parents=True)
    (bench.root / "deep-link").symlink_to("sub/deep")
    (bench.root / "link.txt").symlink_to(bench.root.parent / "secret.txt")
    (bench.root / "folder-link").symlink_to(bench.root.parent)
    (bench.root / "new-link").symlink_to(bench.root.parent / "not-yet")
    return bench


@pytest.mark.parametrize("path", [*PATHS, "ABSOLUTE"])
async def test_what_lies_outside_is_refused_by_every_tool(escapes: Bench, path: str) -> None:
    path = str(escapes.root.parent / "secret.txt") if path == "ABSOLUTE" else path
    folder = os.path.dirname(path)  # noqa: PTH120 - a text, dots and all
    for tool, arguments in {
        "read": {"path": path},
        "grep": {"path": path, "pattern": "needle"},
        "edit": {"path": path, "old_text": "needle", "new_text": "x"},
        "write": {"path": path, "content": "x"},
        **({"list": {"path": folder}, "glob": {"path": folder, "pattern": "*"}} if folder else {}),
    }.items():
        said = await escapes.fails(tool, **arguments)
        assert f"name a path inside {escapes.root}" in said, (tool, said)
        assert "a secret" not in said
    assert (escapes.root.parent / "secret.txt").read_text() == "needle: a secret\n"


async def test_a_link_to_nowhere_outside_is_not_written_through(escapes: Bench) -> None:
    assert "leads by a link out of the workspace" in await escapes.fails("write", path="new-link", content="x")
    assert not (escapes.root.parent / "not-yet").exists()


async def test_searching_and_finding_do_not_follow_links_out(escapes: Bench) -> None:
    assert await escapes.ask("grep", pattern="needle", ignored=True) == "[no match]"
    assert "secret" not in (await escapes.ask("glob", pattern="**", ignored=True))
    assert "folder-link -> " in await escapes.ask("list")


@pytest.mark.parametrize("cwd", ["..", "folder-link", "sub/../..", "deep-link/../..", "/"])
async def test_a_command_does_not_start_outside(escapes: Bench, cwd: str) -> None:
    assert "the workspace" in await escapes.fails("run", command="touch here", cwd=cwd)


async def test_a_link_inside_is_followed(bench: Bench) -> None:
    (bench.root / "a.txt").write_text("one\n")
    (bench.root / "b.txt").symlink_to("a.txt")
    assert await bench.ask("read", path="b.txt") == "     1\tone"
    await bench.ask("edit", path="b.txt", old_text="one", new_text="two")
    assert (bench.root / "a.txt").read_text() == "two\n"
    assert (bench.root / "b.txt").is_symlink()


async def test_a_workspace_may_itself_be_named_by_a_link(bench: Bench, tmp_path: Path) -> None:
    (bench.root / "a.txt").write_text("one\n")
    (tmp_path / "other").symlink_to(bench.root)
    other = Bench(tmp_path / "other")
    assert await other.ask("read", path=str(tmp_path / "other" / "a.txt")) == "     1\tone"


async def test_a_missing_path_tells_what_is_near(bench: Bench) -> None:
    (bench.root / "src").mkdir()
    (bench.root / "src" / "server.py").write_text("")
    (bench.root / "readme.md").write_text("")
    assert "near it: readme.md" in await bench.fails("read", path="README.md")
    assert "near it: src/server.py" in await bench.fails("read", path="src/sever.py")
    assert "near it: src/server.py" in await bench.fails("read", path="lib/deep/server.py")
    assert await bench.fails("list", path="zzz") == "zzz is not there"


@pytest.mark.parametrize("path", ["\0", "a\0b", "x" * 5000, "a/" * 3000])
async def test_what_is_no_path_is_told(bench: Bench, path: str) -> None:
    for tool, more in (("read", {}), ("list", {}), ("glob", {"pattern": "*"}), ("grep", {"pattern": "x"})):
        assert await bench.fails(tool, path=path, **more)
    assert await bench.fails("write", path=path, content="x")
    assert list(bench.root.iterdir()) == []


async def test_what_is_no_regular_file_is_not_waited_for(bench: Bench) -> None:
    os.mkfifo(bench.root / "pipe")
    assert "no regular file" in await bench.fails("read", path="pipe")
    assert "no regular file" in await bench.fails("edit", path="pipe", old_text="a", new_text="b")
    assert "no regular file" in await bench.fails("write", path="pipe", content="b")
    assert await bench.ask("grep", pattern="x") == "[no match]"
    os.mkfifo(bench.root / ".gitignore")
    assert sorted((await bench.ask("glob", pattern="*")).split("\n")) == [".gitignore", "pipe"]
