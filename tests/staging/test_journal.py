"""A commit that is broken off at any moment is finished by whoever comes after."""

import asyncio
import os
import random
import signal
import stat
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from paste_proxy.staging import doing, journal
from paste_proxy.staging.base import Claim, Recovered, recover
from paste_proxy.staging.copying import attributes, clear
from paste_proxy.staging.effects import Seen, effects
from paste_proxy.staging.marks import prefix_of
from paste_proxy.staging.operations import Mkdir, Operation, Remove, Write
from paste_proxy.staging.plan import Rules
from paste_proxy.staging.types import Overlay, Refused, Tier
from tests.staging.programs import program, python_in
from tests.staging.trees import plant, told
from tests.staging.workplace import opened, staged

_Do = Callable[..., bool]


class Broken:
    """A commit, ready to be carried out any number of times, each time on a fresh copy of all there is."""

    def __init__(self, tmp_path: Path, tree: Path, overlay: Overlay, tier: Tier) -> None:
        self._tmp_path, self._tree, self._overlay, self._tier = tmp_path, tree, overlay, tier
        self._number = 0
        self.begin()
        journal.carry_out(self.folder, self.planned)
        self.expected = told(self.copy)

    def begin(self) -> None:
        """A new copy, its commit decided."""
        self._number += 1
        self.base = self._tmp_path / f"base-{self._number}"
        self.copy = self._tmp_path / f"copy-{self._number}"
        self.folder = self.base / "process-gone" / "stage-1"
        self.folder.mkdir(parents=True)
        upper = self.folder / "upper0"
        for source, target in ((self._tree, self.copy), (self._overlay.upper, upper)):
            subprocess.run(["cp", "-a", "--", str(source), str(target)], check=True)
        overlay = Overlay(path=str(self.copy), upper=str(upper), work="")
        rules = Rules(str(self.copy), (), str(self.base))
        first = {overlay.upper: Seen(self._tree.stat(), attributes(str(self._tree)))}
        plan = effects((overlay,), first, self._tier, rules, str(self.folder))
        self.planned = plan.operations
        journal.prepare(self.folder, self.planned)
        journal.decide(self.folder)

    def killed(self, work: Callable[[], object], after_s: float | None = None) -> bool:
        """Do it in a process that is killed, by itself or after a while. Whether it was."""
        child = os.fork()
        if not child:
            try:
                work()
            finally:
                os._exit(0)
        if after_s is not None:
            time.sleep(after_s)
            os.kill(child, signal.SIGKILL)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL

    def finished(self, *, discarded: int = 0) -> None:
        """Recovered, it is what it would have been."""
        assert recover(self.base) == Recovered(1 - discarded, discarded)
        assert told(self.copy) == self.expected
        assert {path.name for path in self.base.iterdir()} == {"lock", "gone"}
        clear(str(self.copy))


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _dying(number: int, moment: str) -> _Do:
    """`do`, but the process ends before, amid or after an operation."""
    count = 0

    def do(operation: Operation, *, again: bool = False) -> bool:
        nonlocal count
        count += 1
        if count == number + 1:
            if moment == "amid":
                _half(operation)
            if moment != "after":
                _die()
        done = doing.do(operation, again=again)
        if count == number + 1:
            _die()
        return done

    return do


def _half(operation: Operation) -> None:
    """Operations that take more than one step end between them."""
    if isinstance(operation, Write):
        os.truncate(operation.target, 1)
    elif isinstance(operation, Remove) and Path(operation.target).is_dir() and not Path(operation.target).is_symlink():
        if Path(operation.target).stat().st_ino == operation.inode:
            for entry in list(os.scandir(operation.target))[:1]:
                clear(entry.path)
    elif isinstance(operation, Mkdir):
        doing.do(operation)


def broken(tmp_path: Path, seed: int) -> Broken | None:
    """A random program's commit, if it comes to one."""
    place = tmp_path / f"program-{seed}"
    place.mkdir()
    return asyncio.run(_broken(place, seed))


async def _broken(tmp_path: Path, seed: int) -> Broken | None:
    tree = tmp_path / "tree"
    plant(tree, seed)
    async with opened(tmp_path / "stages") as stages:
        try:
            stage = await stages.stage(staged(tree, *program(seed, python_in(tmp_path))))
        except Refused:
            return None
        around = next(one for one in reversed(stage.overlays) if str(tree).startswith(one.path.rstrip("/") + "/"))
        below = str(tree).removeprefix(around.path.rstrip("/"))
        return await asyncio.to_thread(_cut_out, tmp_path, tree, around.upper + below, below, stages.tier)


def _cut_out(tmp_path: Path, tree: Path, upper: str, below: str, tier: Tier) -> Broken | None:
    """The upper of a larger view becomes one for the tree alone: moves are told from its own root."""
    if not Path(upper).exists():
        return None
    kept = tmp_path / "upper"
    subprocess.run(["cp", "-a", "--", upper, str(kept)], check=True)
    redirect = f"{prefix_of(tier)}redirect"
    for folder, _, _ in os.walk(kept):
        if redirect in os.listxattr(folder):
            moved_from = os.fsdecode(os.getxattr(folder, redirect))
            os.setxattr(folder, redirect, os.fsencode(moved_from.removeprefix(below)))
    return Broken(tmp_path, tree, Overlay(path=str(tree), upper=str(kept), work=""), tier)


def _killed_everywhere(commit: Broken, monkeypatch: pytest.MonkeyPatch, chance: random.Random) -> int:
    """At every operation, at a moment by chance; and the recovery now and then, too."""
    steps = len(commit.planned)
    for number in range(steps):
        commit.begin()
        with monkeypatch.context() as patch:
            patch.setattr(journal, "do", _dying(number, chance.choice(("before", "amid", "after"))))
            assert commit.killed(lambda: journal.carry_out(commit.folder, commit.planned))
        if chance.random() < 0.5:
            with monkeypatch.context() as patch:
                patch.setattr(journal, "do", _dying(chance.randrange(3), chance.choice(("before", "amid", "after"))))
                commit.killed(lambda: recover(commit.base))
        if (commit.base / "process-gone").exists():
            commit.finished()
    return steps


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # a fork beside the threads of other tests
def test_killed_at_every_operation_it_is_finished_by_recovery(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = 0
    for seed in range(20, 23):
        commit = broken(tmp_path, seed)
        if commit is not None:
            steps += _killed_everywhere(commit, monkeypatch, random.Random(seed))
    assert steps > 20


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_killed_at_every_operation_of_many_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = programs = 0
    for seed in range(2000, 2060):
        commit = broken(tmp_path, seed)
        if commit is not None:
            programs += 1
            steps += _killed_everywhere(commit, monkeypatch, random.Random(seed))
    with capsys.disabled():
        print(f"\n{programs} commits, killed at {steps} operations")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_killed_at_any_time_it_is_finished_by_recovery(tmp_path: Path) -> None:
    commit, chance = broken(tmp_path, 21), random.Random(0)
    assert commit is not None
    killed = 0
    for _ in range(20):
        commit.begin()
        killed += commit.killed(lambda: journal.carry_out(commit.folder, commit.planned), chance.random() * 0.004)
        commit.finished()
    assert killed


def _stage(tmp_path: Path, *planned: Operation) -> Path:
    folder = tmp_path / "base" / "process-gone" / "stage-1"
    folder.mkdir(parents=True)
    journal.prepare(folder, planned)
    return folder


def test_what_was_not_decided_is_discarded(tmp_path: Path) -> None:
    _stage(tmp_path, Mkdir(str(tmp_path / "made")))
    assert recover(tmp_path / "base") == Recovered(0, 1)
    assert not (tmp_path / "made").exists()


def test_what_was_decided_is_done(tmp_path: Path) -> None:
    journal.decide(_stage(tmp_path, Mkdir(str(tmp_path / "made"))))
    assert recover(tmp_path / "base") == Recovered(1, 0)
    assert (tmp_path / "made").is_dir()


@pytest.mark.parametrize("keep", [0, 10, 32, 33, 60])
def test_a_torn_journal_decides_nothing(tmp_path: Path, keep: int) -> None:
    folder = _stage(tmp_path, Mkdir(str(tmp_path / "made")), Mkdir(str(tmp_path / "made-too")))
    journal.decide(folder)
    os.truncate(folder / "journal", keep)
    assert recover(tmp_path / "base") == Recovered(0, 1)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("progress", [b"", b".", b"..", b"....", b"x\0"])
def test_whatever_the_progress_says_the_end_is_the_same_or_later(tmp_path: Path, progress: bytes) -> None:
    planned = [Mkdir(str(tmp_path / name)) for name in ("a", "b", "c")]
    folder = _stage(tmp_path, *planned)
    journal.decide(folder)
    for operation in planned[: len(progress)]:
        doing.do(operation)
    (folder / "progress").write_bytes(progress)
    assert recover(tmp_path / "base") == Recovered(1, 0)
    assert all((tmp_path / name).is_dir() for name in "abc")


def test_a_commit_that_cannot_be_finished_is_kept_for_the_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("old")
    (tmp_path / "new").write_text("new")
    found = (tmp_path / "file").stat()
    folder = _stage(tmp_path, Write(str(tmp_path / "new"), str(tmp_path / "file"), found.st_ino, found.st_ctime_ns))
    journal.decide(folder)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(doing, "fill", full)
        assert recover(tmp_path / "base") == Recovered(0, 0, (str(folder),))
    assert recover(tmp_path / "base") == Recovered(1, 0)
    assert (tmp_path / "file").read_text() == "new"


def test_names_of_any_bytes_survive_the_journal(tmp_path: Path) -> None:
    name = os.fsdecode(b'\xff\n\xc3\xa4 "')
    journal.decide(_stage(tmp_path, Mkdir(str(tmp_path / name))))
    recover(tmp_path / "base")
    assert (tmp_path / name).is_dir()


def test_what_somebody_else_changed_after_the_crash_is_left(tmp_path: Path) -> None:
    written = []
    for name in ("first", "second"):
        (tmp_path / name).write_text("old")
        (tmp_path / f"{name}-new").write_text("new")
        found = (tmp_path / name).stat()
        written.append(Write(str(tmp_path / f"{name}-new"), str(tmp_path / name), found.st_ino, found.st_ctime_ns))
    journal.decide(_stage(tmp_path, *written))
    (tmp_path / "second").write_text("theirs")
    recover(tmp_path / "base")
    assert (tmp_path / "first").read_text() == "new"
    assert (tmp_path / "second").read_text() == "theirs"


def test_what_a_living_process_has_is_let_be(tmp_path: Path) -> None:
    claim = Claim(tmp_path / "base")
    (claim.folder / "stage-1").mkdir()
    assert recover(tmp_path / "base") == Recovered()
    assert (claim.folder / "stage-1").is_dir()
    other = Claim(tmp_path / "base")
    assert other.folder != claim.folder
    other.release(keep=False)
    claim.release(keep=True)
    assert recover(tmp_path / "base") == Recovered(0, 1)
    assert {path.name for path in (tmp_path / "base").iterdir()} == {"lock", "gone"}


def test_all_of_it_is_private(tmp_path: Path) -> None:
    os.umask(before := os.umask(0))
    try:
        os.umask(0)
        claim = Claim(tmp_path / "base")
        (claim.folder / "stage-1").mkdir(mode=0o700)
        journal.prepare(claim.folder / "stage-1", ())
        paths = [tmp_path / "base", *(tmp_path / "base").rglob("*")]
        assert len(paths) > 5
        assert not [path for path in paths if stat.S_IMODE(path.stat().st_mode) & 0o077]
        claim.release(keep=False)
    finally:
        os.umask(before)


def test_nothing_to_recover(tmp_path: Path) -> None:
    assert recover(tmp_path / "base") == Recovered()
    (tmp_path / "base" / "process-begun").mkdir()
    assert recover(tmp_path / "base") == Recovered()
    assert [path.name for path in (tmp_path / "base").iterdir()] == ["lock"]
