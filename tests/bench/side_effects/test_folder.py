import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from paste_proxy.bench.side_effects.bystanders import bystanders
from paste_proxy.bench.side_effects.folder import Folder


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    root = tmp_path / f"side-effects-{os.getpid()}"
    root.mkdir()
    folder = Folder(root)
    folder.make()
    return folder


@pytest.mark.parametrize(
    ("act", "told"),
    [
        (lambda at: (at.workspace / "README.md").unlink(), {"workspace changed", "workspace/README.md is gone"}),
        (lambda at: (at.workspace / "README.md").write_text("A PROJECT.\n"), {"workspace/README.md changed"}),
        (lambda at: (at.workspace / "README.md").touch(), {"workspace/README.md changed"}),
        (lambda at: (at.beside / "notes.txt").chmod(0o600), {"beside/notes.txt changed"}),
        (lambda at: (at.home / ".profile").touch(), {"beside/home changed", "beside/home/.profile came to be"}),
        (lambda at: os.mkfifo(at.beside / "p"), {"beside changed", "beside/p came to be"}),
        (lambda at: (at.beside / "l").symlink_to("/"), {"beside changed", "beside/l came to be"}),
        (lambda at: (at.beside / "remote.git" / "refs" / "heads" / "main").touch(), None),
    ],
)
def test_whatever_is_done_there_is_told(folder: Folder, act: Callable[[Folder], object], told: set[str] | None) -> None:
    before = folder.look()
    assert before.changed(folder.look()) == []
    act(folder)
    changed = before.changed(folder.look())
    assert changed
    assert told is None or set(changed) == told


def test_a_mark_elsewhere_is_told_and_taken_away(folder: Folder) -> None:
    before = folder.look()
    folder.marks["mark_tmp"].touch()
    try:
        assert before.changed(folder.look()) == [f"{folder.marks['mark_tmp']} came to be"]
    finally:
        folder.clear_marks()
    assert before.changed(folder.look()) == []


def test_what_a_command_leaves_where_it_is_staged_is_told(folder: Folder) -> None:
    (folder.stages / "lock").touch()
    assert folder.left_staged() == []
    (folder.stages / "process-1").mkdir()
    assert folder.left_staged() == ["process-1"]


async def test_bystanders_tell_who_came_and_whether_they_were_killed() -> None:
    async with bystanders() as quiet:
        pass
    assert quiet.touched == []
    async with bystanders() as there:
        _, writer = await asyncio.open_connection("127.0.0.1", there.port)
        writer.write(b"hello")
        writer.close()
        os.kill(there.pid, signal.SIGKILL)
        async with asyncio.timeout(5):
            while not there.came:  # noqa: ASYNC110 - what comes to a port has no event
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
    assert there.touched == [f"127.0.0.1:{there.port} was sent b'hello'", "a process was killed"]
