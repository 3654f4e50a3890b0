"""What is over is out of the way at once, and taken away out of everybody's way."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from paste_proxy.staging.base import Recovered, recover
from paste_proxy.staging.forks import Forks
from paste_proxy.staging.gone import Sweep, gone_in, put_away
from tests.staging.runs import found
from tests.staging.workplace import BOUNDS, opened, staged


@pytest.fixture
async def forks() -> AsyncIterator[Forks]:
    forks = Forks()
    yield forks
    await forks.close()


def over(base: Path, name: str) -> Path:
    folder = base / "process-one" / name
    (folder / "upper").mkdir(parents=True)
    (folder / "upper" / "file").write_text("file")
    return folder


async def swept(base: Path, forks: Forks) -> None:
    sweep = Sweep(base, forks)
    sweep.begin()
    await found(lambda: not gone_in(base).exists())
    await sweep.close(30)


def test_it_is_where_nobody_looks(tmp_path: Path) -> None:
    for name in ("stage-1", "stage-2"):
        put_away(over(tmp_path, name), tmp_path)
    assert list((tmp_path / "process-one").iterdir()) == []
    assert len(list(gone_in(tmp_path).iterdir())) == 2
    assert recover(tmp_path).discarded == 0
    with pytest.raises(FileNotFoundError):
        put_away(tmp_path / "process-one" / "stage-1", tmp_path)


async def test_whatever_is_in_it_is_taken_away_and_the_folder_with_it(tmp_path: Path, forks: Forks) -> None:
    await asyncio.to_thread(_of_every_kind, tmp_path)
    await swept(tmp_path, forks)
    assert (tmp_path / "kept").read_text() == "kept"


def _of_every_kind(tmp_path: Path) -> None:
    folder = over(tmp_path, "stage-1")
    os.mkfifo(folder / "fifo")
    (folder / "link").symlink_to(tmp_path / "kept")
    (folder / "to-a-folder").symlink_to(tmp_path)
    (folder / os.fsdecode(b"\xff \n")).touch()
    (tmp_path / "kept").write_text("kept")
    (folder / "closed" / "closed").mkdir(parents=True)
    (folder / "closed" / "closed" / "file").touch(0o000)
    for closed in (folder / "closed" / "closed", folder / "closed", folder):
        closed.chmod(0o000)
    folder.parent.chmod(0o700)
    put_away(folder, tmp_path)


async def test_where_it_lies_may_be_told_from_where_we_are(
    tmp_path: Path, forks: Forks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    await asyncio.to_thread(lambda: put_away(over(Path("base"), "stage-1"), Path("base")))
    await swept(Path("base"), forks)


async def test_it_may_be_deeper_than_any_path_is_long(tmp_path: Path, forks: Forks) -> None:
    await asyncio.to_thread(_deep, tmp_path)
    await swept(tmp_path, forks)


def _deep(tmp_path: Path) -> None:
    folder = over(tmp_path, "stage-1")
    opened_at = os.open(folder, os.O_RDONLY)
    for _ in range(60):
        os.mkdir("d" * 200, dir_fd=opened_at)
        deeper = os.open("d" * 200, os.O_RDONLY, dir_fd=opened_at)
        os.close(opened_at)
        opened_at = deeper
    os.close(opened_at)
    put_away(folder, tmp_path)


async def test_several_may_sweep_at_once_and_something_may_come_meanwhile(tmp_path: Path, forks: Forks) -> None:
    sweeps = [Sweep(tmp_path, forks) for _ in range(3)]
    for number in range(60):
        await asyncio.to_thread(lambda name: put_away(over(tmp_path, name), tmp_path), f"stage-{number}")
        sweeps[number % 3].begin()
    for sweep in sweeps:
        sweep.begin()
    await found(lambda: not gone_in(tmp_path).exists())
    for sweep in sweeps:
        await sweep.close(30)


async def test_neither_a_commit_nor_the_end_waits_for_it_and_the_next_start_takes_what_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, base = tmp_path / "workspace", tmp_path / "base"
    await asyncio.to_thread(workspace.mkdir)
    sweepers: list[socket.socket] = []

    async def never_done(forks: Forks, folder: str) -> socket.socket:
        nobody = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        nobody.setblocking(False)
        sweepers.append(nobody)
        return nobody

    with monkeypatch.context() as patch:
        patch.setattr(Forks, "sweeper", never_done)
        async with opened(tmp_path, bounds=replace(BOUNDS, sweep_s=0)) as stages:
            for number in range(3):
                asked = staged(workspace, f"echo {number} >file")
                assert await stages.commit(await stages.stage(asked), asked) is not None
            stages.discard(await stages.stage(asked), "not wanted")
            await found(lambda: len(list(gone_in(base).iterdir())) == 4)
    assert [sweeper.fileno() for sweeper in sweepers] == [-1]
    assert (workspace / "file").read_text() == "2\n"
    assert await asyncio.to_thread(lambda: len(list(gone_in(base).iterdir()))) == 4
    async with opened(tmp_path) as stages:
        assert stages.recovered == Recovered()
