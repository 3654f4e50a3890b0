"""What a view covers of a machine with mounts anywhere."""

from collections.abc import Callable
from pathlib import Path

import pytest

from paste_proxy.staging import mounts
from paste_proxy.staging.mounts import Layout, covers, layout

Machine = Callable[[list[str]], None]


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    """One with these mounts, all else being as it is here."""

    def mounted(points: list[str]) -> None:
        monkeypatch.setattr(mounts, "mount_points", lambda: ["/", "/dev", "/dev/shm", "/proc", "/sys", *points])

    return mounted


def test_all_directories_of_the_root_are_covered_but_the_machines_own(machine: Machine) -> None:
    machine([])
    covered = layout((), unprivileged=True).covered
    assert {"/etc", "/usr", "/tmp"} <= set(covered)
    assert not {"/proc", "/sys", "/dev", "/"} & set(covered)
    assert not any(Path(path).is_symlink() for path in covered)


def test_root_covers_all_in_one(machine: Machine) -> None:
    machine([])
    assert layout((), unprivileged=False).covered == ("/",)


def test_a_mount_gets_its_own_overlay_after_the_roots(machine: Machine) -> None:
    machine(["/usr/lib", "/usr/bin/env"])
    found = layout((), unprivileged=False)
    assert found.covered == ("/", "/usr/lib")
    assert found.kept == ("/usr/bin/env",)


def test_in_a_user_namespace_what_is_around_a_mount_is_left_to_be_sealed(machine: Machine) -> None:
    machine(["/usr/lib"])
    covered = layout((), unprivileged=True).covered
    assert {"/usr/lib", "/usr/bin", "/etc"} <= set(covered)
    assert "/usr" not in covered


def test_in_a_user_namespace_what_is_ours_below_what_is_not_gets_its_own(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine([])
    ours = {"/usr/share/ours", "/usr/share/ours/ws", "/home/ours", "/home/ours/ws"}
    monkeypatch.setattr(mounts, "_is_ours", ours.__contains__)
    used = ["/usr/share/ours/ws", "/home/ours/ws", "/usr/lib", "/tmp"]
    tops = layout((), unprivileged=True).covered
    assert set(layout(used, unprivileged=True).covered) - set(tops) == {"/usr/share/ours", "/usr/lib"}


def test_what_is_in_a_covered_directory_is_covered() -> None:
    assert covers(("/a", "/b/c"), "/b/c/d")
    assert covers(("/a",), "/a")
    assert not covers(("/a", "/b/c"), "/b")
    assert not covers(("/a",), "/ab")


def test_the_order_is_by_directories_and_not_by_letters(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine(["/usr/lib", "/usr", "/usr-local"])
    monkeypatch.setattr(Path, "is_dir", lambda _: True)
    monkeypatch.setattr(Path, "is_file", lambda _: False)
    assert layout((), unprivileged=False) == Layout(("/", "/usr", "/usr/lib", "/usr-local"), ())


def test_mount_points_with_odd_names_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    line = rb"1 2 0:3 / /a\040b\134c rw - tmpfs x rw" + b"\n"
    monkeypatch.setattr(Path, "read_bytes", lambda _: line * 2)
    assert mounts.mount_points() == ["/a b\\c"]
