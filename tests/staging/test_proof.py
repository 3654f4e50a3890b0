"""The proof that a tree is as it was at an instant."""

import mmap
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from paste_proxy.staging.filesystems import mount_of, need_honest_times
from paste_proxy.staging.instant import Instant
from paste_proxy.staging.proof import prove_clock, prove_file, prove_tree
from paste_proxy.staging.types import Refused
from tests.staging.test_stages import EDITS
from tests.staging.trees import told

COARSE = 5
"""CLOCK_REALTIME_COARSE."""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    (folder / "sub").mkdir(parents=True)
    for name in ("file", "gone", "other", "sub/inner"):
        (folder / name).write_text("words\n")
    try:
        need_honest_times(str(folder))
    except Refused as why:
        pytest.skip(str(why))
    return folder


def holds(workspace: Path, since: Instant) -> bool:
    try:
        prove_tree(str(workspace), since)
    except Refused as why:
        return "has changed" not in str(why)
    return True


def test_each_change_is_found_and_none_from_before(workspace: Path) -> None:
    for name, edit in EDITS.items():
        since = Instant.taken((str(workspace),))
        told(workspace)  # reading is no change
        prove_tree(str(workspace), since)
        edit(workspace)
        assert not holds(workspace, since), name


def test_a_store_to_a_page_that_was_dirty_before_is_found(workspace: Path) -> None:
    with (workspace / "other").open("r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
        memory[0] = 76
        since = Instant.taken((str(workspace),))
        prove_tree(str(workspace), since)
        memory[1] = 77
        assert not holds(workspace, since)


def test_changes_right_before_do_not_count(workspace: Path) -> None:
    for number in range(20):
        (workspace / "file").write_text(f"{number}")
        (workspace / f"new-{number}").touch()
        prove_tree(str(workspace), Instant.taken((str(workspace),)))


def test_an_instant_waits_for_a_clock_that_is_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    real, began = time.clock_gettime_ns, time.time_ns()

    def behind(clock: int) -> int:
        return real(clock) - (20_000_000 if clock == COARSE else 0)

    monkeypatch.setattr(time, "clock_gettime_ns", behind)
    assert Instant.taken(()).at_ns > began


def test_a_coarse_file_system_is_believed_less() -> None:
    since = Instant(at_ns=5_300_000_000, clock_ns=0)
    assert [since.before(ctime_ns) for ctime_ns in (5_300_000_000, 5_299_999_999, 5_000_000_000, 4_000_000_000)] == [
        True,
        False,
        True,
        False,
    ]


def test_nothing_is_proven_when_the_clock_was_set(workspace: Path) -> None:
    since = Instant.taken((str(workspace),))
    prove_clock(since)
    for step_ns in (-(10**9), 5_000_000):
        with pytest.raises(Refused, match="clock"):
            prove_clock(replace(since, clock_ns=since.clock_ns + step_ns))


def test_what_belongs_to_others_is_found_where_that_matters(workspace: Path) -> None:
    since, owner = Instant.taken(()), (os.getuid(), os.getgid())
    prove_tree(str(workspace), since, owner=owner)
    with pytest.raises(Refused, match="somebody else"):
        prove_tree(str(workspace), since, owner=(owner[0] + 1, owner[1]))


def test_times_of_some_file_systems_prove_nothing(workspace: Path) -> None:
    with pytest.raises(Refused, match="prove nothing"):
        need_honest_times("/proc")
    with pytest.raises(Refused, match="prove nothing"):
        prove_tree("/proc/self/task", Instant(at_ns=2**62, clock_ns=0))


def test_memory_is_a_file_system_that_is_believed_outside_of_workspaces_only() -> None:
    if not Path("/dev/shm").is_dir():
        pytest.skip("no tmpfs here")
    with pytest.raises(Refused):
        need_honest_times("/dev/shm")
    need_honest_times("/dev/shm", memory_too=True)


def test_a_file_that_is_not_there_has_changed(tmp_path: Path) -> None:
    with pytest.raises(Refused):
        prove_file(str(tmp_path / "none"), Instant.taken(()))


def test_mounts_are_told_apart(workspace: Path) -> None:
    assert mount_of(str(workspace)) == mount_of(str(workspace / "file"))
    assert mount_of("/proc") != mount_of(str(workspace))


def test_an_instant_is_of_now(workspace: Path) -> None:
    before = time.time_ns()
    instant = Instant.taken((str(workspace), str(workspace / "sub")))
    assert before - 10_000_000 < instant.at_ns <= time.time_ns()
    assert not instant.clock_was_set()
