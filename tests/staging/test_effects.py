"""What is read from an upper, and what is refused."""

import os
import stat
from pathlib import Path

import pytest

from paste_proxy.staging import journal
from paste_proxy.staging.effects import effects, seen_first
from paste_proxy.staging.marks import prefix_of
from paste_proxy.staging.operations import Meta, Move, Operation, Place, Remove, Times, Write
from paste_proxy.staging.plan import Plan, Rules
from paste_proxy.staging.types import Overlay, Refused, Tier
from tests.staging.trees import told

TIER = Tier.ROOT if os.geteuid() == 0 else Tier.USER


class Upper:
    """An upper made by hand, as the kernel would, over a tree of two files and a directory."""

    def __init__(self, tmp_path: Path) -> None:
        self.tree, self.folder = tmp_path / "tree", tmp_path / "base" / "stage-1"
        self.upper = self.folder / "upper0"
        self.upper.mkdir(parents=True)
        self.overlay = Overlay(path=str(self.tree), upper=str(self.upper), work="")
        (self.tree / "sub").mkdir(parents=True)
        for name in ("file", "other", "sub/inner"):
            (self.tree / name).write_text(f"{name}\n")
        os.utime(self.upper, ns=(5, 5))
        self.first = seen_first((self.overlay,), TIER)

    def mark(self, name: str, mark: str, value: bytes = b"y") -> None:
        os.setxattr(self.upper / name, prefix_of(TIER) + mark, value)

    def seem_like(self, name: str, other: str) -> None:
        """With times and mode of a thing in the tree."""
        found = (self.tree / other).stat()
        os.utime(self.upper / name, ns=(found.st_atime_ns, found.st_mtime_ns))
        (self.upper / name).chmod(stat.S_IMODE(found.st_mode))

    def change(self, name: str, content: str) -> None:
        """A file of the tree, copied and perhaps changed."""
        (self.upper / name).write_text(content)
        self.seem_like(name, name)
        self.mark(name, "origin", b"handle")

    def whiteout(self, name: str) -> None:
        try:
            os.mknod(self.upper / name, stat.S_IFCHR, 0)
        except PermissionError:
            pytest.skip("only a view may make this")

    def plan(self, rules: Rules | None = None) -> Plan:
        os.utime(self.upper, ns=(5, 5))  # as if nothing had been put there by hand
        rules = rules or Rules(str(self.tree), (), str(self.folder.parent))
        return effects((self.overlay,), self.first, TIER, rules, str(self.folder))

    def kinds(self) -> list[type[Operation]]:
        return [type(operation) for operation in self.plan().operations]


@pytest.fixture
def upper(tmp_path: Path) -> Upper:
    made = Upper(tmp_path)
    try:
        made.mark("", "origin")
    except OSError:
        pytest.skip("no marks on this file system")
    return made


def test_nothing_was_done(upper: Upper) -> None:
    assert upper.kinds() == []
    assert not upper.plan().changes_workspace


def test_a_file_that_was_only_opened_is_not_touched(upper: Upper) -> None:
    upper.change("file", "file\n")
    assert upper.kinds() == []


def test_a_changed_file_stays_the_same_one(upper: Upper) -> None:
    upper.change("file", "FILE\n")
    assert upper.kinds() == [Write, Meta, Times]


def test_a_file_whose_mode_was_changed_is_not_written(upper: Upper) -> None:
    upper.change("file", "file\n")
    (upper.upper / "file").chmod(0o600)
    assert upper.kinds() == [Meta]


def test_a_file_that_was_touched_gets_times(upper: Upper) -> None:
    upper.change("file", "file\n")
    os.utime(upper.upper / "file", ns=(5, 5))
    assert upper.kinds() == [Times]


def test_a_replaced_file_is_another_one(upper: Upper) -> None:
    (upper.upper / "file").write_text("new\n")
    [place, times] = upper.plan().operations
    assert isinstance(place, Place)
    assert place.inode == (upper.tree / "file").stat().st_ino
    assert isinstance(times, Times)


def test_a_new_directory_is_one_operation(upper: Upper) -> None:
    for name in ("new/a", "new/b/c", "new/b/d"):
        (upper.upper / name).mkdir(parents=True)
        (upper.upper / name / "file").touch()
    assert upper.kinds().count(Place) == 1


def test_what_is_gone(upper: Upper) -> None:
    upper.whiteout("file")
    upper.whiteout("sub")
    assert [type(operation) for operation in upper.plan().operations[:2]] == [Remove, Remove]


def test_a_moved_directory_is_taken_out_before_its_name_is_used(upper: Upper) -> None:
    (upper.upper / "moved").mkdir()
    upper.mark("moved", "redirect", b"sub")
    (upper.upper / "sub").mkdir()
    upper.mark("sub", "opaque")
    before = (upper.tree / "sub" / "inner").stat().st_ino
    planned = upper.plan().operations
    assert isinstance(planned[0], Move)
    journal.prepare(upper.folder, planned)
    journal.decide(upper.folder)
    journal.carry_out(upper.folder, planned)
    assert (upper.tree / "moved" / "inner").stat().st_ino == before
    assert list((upper.tree / "sub").iterdir()) == []


@pytest.mark.parametrize(
    ("name", "mark", "value"),
    [("sub", "opaque", b"x"), ("sub", "something", b"y"), ("file", "metacopy", b""), ("file", "whiteout", b"")],
)
def test_a_mark_that_is_not_known_is_refused(upper: Upper, name: str, mark: str, value: bytes) -> None:
    (upper.upper / "sub").mkdir()
    (upper.upper / "file").touch()
    upper.mark(name, mark, value)
    with pytest.raises(Refused, match="is marked"):
        upper.plan()


@pytest.mark.parametrize("name", ["device", "new/device"])
def test_a_device_is_refused(upper: Upper, name: str) -> None:
    (upper.upper / "new").mkdir()
    try:
        os.mknod(upper.upper / name, stat.S_IFCHR, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("only root may make one")
    with pytest.raises(Refused, match="device"):
        upper.plan()


def test_one_of_several_names_of_a_file_is_refused(upper: Upper) -> None:
    os.link(upper.tree / "file", upper.tree / "sub" / "same")
    upper.change("file", "FILE\n")
    with pytest.raises(Refused, match="several names"):
        upper.plan()
    (upper.upper / "file").unlink()
    os.mkfifo(upper.upper / "file")
    with pytest.raises(Refused, match="several names"):
        upper.plan()
    (upper.upper / "file").unlink()
    upper.whiteout("sub")
    with pytest.raises(Refused, match="several names"):
        upper.plan()


def test_a_name_of_a_new_file_that_is_not_seen_is_refused(upper: Upper, tmp_path: Path) -> None:
    (upper.upper / "new").touch()
    os.link(upper.upper / "new", tmp_path / "unseen")
    with pytest.raises(Refused, match="not to be seen"):
        upper.plan()


@pytest.mark.parametrize("gone", ["sub", "moved", "file"])
def test_what_somebody_has_taken_away_meanwhile_is_refused(upper: Upper, gone: str) -> None:
    if gone == "file":
        upper.whiteout("file")
    else:
        (upper.upper / gone).mkdir()
        upper.mark(gone, "origin")
        if gone == "moved":
            upper.mark("moved", "redirect", b"sub")
    (upper.tree / "sub").rename(upper.folder / "theirs")
    (upper.tree / "file").unlink()
    with pytest.raises(Refused, match="has gone"):
        upper.plan()


def test_nothing_is_done_outside_where_it_is_not_permitted(upper: Upper, tmp_path: Path) -> None:
    (upper.upper / "new").touch()
    base = str(upper.folder.parent)
    with pytest.raises(Refused, match="it changed"):
        upper.plan(Rules(str(tmp_path / "elsewhere"), (str(upper.tree / "sub"),), base))
    plan = upper.plan(Rules(str(tmp_path / "elsewhere"), (str(upper.tree),), base))
    assert not plan.changes_workspace
    assert plan.made == {str(upper.tree / "new")}
    assert [type(operation) for operation in plan.operations] == [Place]  # no times of a directory of others


def test_what_is_changed_outside_has_to_be_as_it_was(upper: Upper, tmp_path: Path) -> None:
    upper.change("file", "FILE\n")
    (upper.upper / "other").write_text("replaced")
    (upper.upper / "sub").write_text("a file now")
    plan = upper.plan(Rules(str(tmp_path / "elsewhere"), (str(upper.tree),), str(upper.folder.parent)))
    assert plan.files == {str(upper.tree / "file"), str(upper.tree / "other")}
    assert plan.trees == {str(upper.tree / "sub")}
    assert plan.made == frozenset()


def test_directories_that_are_closed_are_opened_and_closed_again(upper: Upper) -> None:
    (upper.tree / "sub").chmod(0o555)
    (upper.upper / "sub").mkdir()
    upper.seem_like("sub", "sub")
    (upper.upper / "sub" / "new").touch()
    planned = upper.plan().operations
    journal.prepare(upper.folder, planned)
    journal.decide(upper.folder)
    assert journal.carry_out(upper.folder, planned) == 0
    assert stat.S_IMODE((upper.tree / "sub").stat().st_mode) == 0o555
    assert (upper.tree / "sub" / "new").exists()


def test_a_disk_without_room_is_refused(upper: Upper, monkeypatch: pytest.MonkeyPatch) -> None:
    with (upper.upper / "file").open("wb") as file:
        file.write(b"x" * 100_000)
    upper.mark("file", "origin")
    real = os.statvfs

    def full(path: str) -> os.statvfs_result:
        values = list(real(path))
        values[4] = 1  # blocks that are free
        return os.statvfs_result(values)

    monkeypatch.setattr(os, "statvfs", full)
    with pytest.raises(Refused, match="too full"):
        upper.plan()


def test_reading_changes_nothing(upper: Upper) -> None:
    upper.change("file", "FILE\n")
    (upper.upper / "sub").mkdir()
    upper.mark("sub", "opaque")
    upper.plan()
    before = told(upper.tree), told(upper.upper)
    upper.plan()
    assert (told(upper.tree), told(upper.upper)) == before
