"""Single operations of a commit."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from paste_proxy.staging.copying import attributes, clear
from paste_proxy.staging.doing import do
from paste_proxy.staging.operations import (
    Link,
    Meta,
    Mkdir,
    Mode,
    Move,
    Operation,
    Place,
    Remove,
    Times,
    Unmark,
    Write,
)
from tests.staging.trees import OLD_NS, plant, told

NOBODY = 65534


@pytest.fixture
def elsewhere() -> Path:
    """A folder on another file system."""
    folder = Path("/dev/shm") / f"staging-{os.getpid()}"
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("there is no second file system")
    if folder.stat().st_dev == Path.cwd().stat().st_dev:
        pytest.skip("there is no second file system")
    return folder


@pytest.fixture(autouse=True)
def _cleared() -> object:
    yield
    clear(f"/dev/shm/staging-{os.getpid()}")


def write(target: Path, source: Path) -> Write:
    found = target.lstat()
    return Write(str(source), str(target), found.st_ino, found.st_ctime_ns)


def place(target: Path, source: Path) -> Place:
    found = target.lstat() if target.exists() else None
    inode, ctime_ns = (found.st_ino, found.st_ctime_ns) if found else (0, 0)
    return Place(str(source), str(target), inode, ctime_ns, str(target.parent / ".via"), aside(target))


def remove(target: Path) -> Remove:
    found = target.lstat()
    return Remove(str(target), found.st_ino, 0 if target.is_dir() else found.st_ctime_ns, aside(target))


def aside(target: Path) -> str:
    """Where there is no such folder, things are cleared away at once."""
    return str(target.parent / "upper" / f"aside-{target.name}")


def _operations(root: Path) -> list[Operation]:
    """One of each kind, each possible on the tree below."""
    return [
        Mode(str(root / "closed"), 0o755),
        Move(str(root / "moved"), str(root / "held"), (root / "moved").stat().st_ino),
        remove(root / "gone"),
        remove(root / "gone-too"),
        Mkdir(str(root / "made")),
        place(root / "placed", root / "upper" / "new"),
        place(root / "old", root / "upper" / "newer"),
        write(root / "written", root / "upper" / "content"),
        Move(str(root / "held"), str(root / "here"), (root / "moved").stat().st_ino),
        Link(str(root / "written"), str(root / "made" / "linked"), str(root / "upper" / "spare")),
        Unmark(str(root / "upper" / "marked"), ("user.mark",), 0o444),
        Meta(str(root / "written"), 0o640, os.getuid(), os.getgid(), {"user.note": b"n".hex()}),
        Times(str(root / "made"), OLD_NS, OLD_NS),
    ]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("closed", "moved/inner", "gone/inner", "upper/new/er"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("gone/inner/x", "gone-too", "old", "written", "moved/x"):
        (tmp_path / name).write_text(name)
    for name in ("newer", "content", "spare", "marked", "new/x"):
        (tmp_path / "upper" / name).write_text(name)
    os.setxattr(tmp_path / "upper" / "marked", "user.mark", b"y")
    (tmp_path / "upper" / "marked").chmod(0o444)
    return tmp_path


def test_each_does_what_it_says(root: Path) -> None:
    for operation in _operations(root):
        assert do(operation), operation
    assert sorted(path.name for path in root.iterdir()) == sorted(
        ("closed", "here", "made", "old", "placed", "upper", "written")
    )
    assert (root / "old").read_text() == "newer"
    assert (root / "placed" / "x").read_text() == "new/x"
    assert (root / "here" / "x").read_text() == "moved/x"
    assert (root / "made" / "linked").read_text() == "content"
    assert (root / "made").stat().st_mtime_ns == OLD_NS
    assert attributes(str(root / "written")) == {"user.note": b"n".hex()}
    assert not (root / "upper" / "spare").exists()


def test_each_can_be_done_again_and_all_of_them_once_more(root: Path) -> None:
    planned = _operations(root)
    for operation in planned:
        do(operation)
        before = told(root)
        do(operation, again=True)
        assert told(root) == before, operation
    for operation in planned[:-1]:
        do(operation)
    do(planned[-1])
    assert told(root) == before


def _theirs(path: Path) -> None:
    clear(str(path))
    path.write_text("theirs")


def test_what_somebody_else_put_there_is_left(root: Path) -> None:
    planned = [operation for operation in _operations(root) if isinstance(operation, Remove | Place | Write)]
    for operation in planned:
        _theirs(Path(operation.target))
    for operation in planned:
        assert not do(operation), operation
        assert Path(operation.target).read_text() == "theirs"


def test_what_somebody_else_wrote_into_is_left_unless_we_had_begun(root: Path) -> None:
    operation = write(root / "written", root / "upper" / "content")
    (root / "written").write_text("half")
    assert not do(operation)
    assert do(operation, again=True)
    assert (root / "written").read_text() == "content"


def test_a_directory_is_never_moved_over_what_somebody_else_made(root: Path) -> None:
    out, back = [operation for operation in _operations(root) if isinstance(operation, Move)]
    do(out)
    (root / "here").write_text("theirs")
    with pytest.raises(FileExistsError):
        do(back)
    assert (root / "held" / "x").read_text() == "moved/x"


def test_where_the_folder_was_taken_away_nothing_is_done(root: Path) -> None:
    (root / "content").write_text("content")
    (root / "deep").mkdir()
    (root / "deep" / "file").touch()
    planned: list[Operation] = [
        Mkdir(str(root / "deep" / "made")),
        place(root / "deep" / "placed", root / "content"),
        write(root / "deep" / "file", root / "content"),
        Meta(str(root / "deep" / "file"), 0o640, 0, 0, {}),
        Times(str(root / "deep"), OLD_NS, OLD_NS),
    ]
    clear(str(root / "deep"))
    assert not [operation for operation in planned if do(operation)]
    assert not (root / "deep").exists()


def test_a_tree_is_placed_from_another_file_system_with_all_that_is_in_it(tmp_path: Path, elsewhere: Path) -> None:
    plant(elsewhere / "tree", 3)
    before = told(elsewhere / "tree")
    os.mkfifo(elsewhere / "pipe", 0o640)
    assert do(place(tmp_path / "tree", elsewhere / "tree"))
    assert do(place(tmp_path / "pipe", elsewhere / "pipe"))
    assert told(tmp_path / "tree") == before
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pipe", "tree"]
    assert not list(elsewhere.iterdir())


def test_holes_stay_holes(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    with source.open("wb") as file:
        file.truncate(2**30)
        file.seek(2**20)
        file.write(b"data")
    target.write_bytes(b"x" * 100_000)
    do(write(target, source))
    assert target.stat().st_size == 2**30
    assert target.stat().st_blocks < 1000
    with target.open("rb") as file:
        file.seek(2**20 - 1)
        assert file.read(6) == b"\0data\0"


@pytest.mark.parametrize("size", [0, 1, 5000, 300_000])
@pytest.mark.parametrize("hole_at", [None, 0, 4096, 8192])
def test_whatever_was_there_is_written_over(tmp_path: Path, size: int, hole_at: int | None) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    with source.open("wb") as file:
        file.write(os.urandom(size))
        if hole_at is not None:
            file.truncate(hole_at)
            file.truncate(size)
    os.setxattr(source, "user.large", b"x" * 3000)  # takes a block, as if there were no hole
    target.write_bytes(b"t" * 100_000)
    assert do(write(target, source))
    assert target.read_bytes() == source.read_bytes()


def _closed_to_their_owner(root: Path) -> None:
    """What a plain user may do with effort: files and directories of their own that are read-only."""
    for name in ("gone/inner", "gone", "upper/new/er", "upper/new"):
        (root / name).chmod(0o555)
    for name in ("written", "old", "gone-too", "upper/marked"):
        (root / name).chmod(0o444)


def test_read_only_files_and_directories_of_a_plain_user(root: Path) -> None:
    _closed_to_their_owner(root)

    def change() -> None:
        (root / "upper" / "new").chmod(0o755)  # as a plan does for a directory that is moved
        for operation in _operations(root):
            assert do(operation), operation

    as_plain_user(root, change)
    assert (root / "written").read_text() == "content"
    assert not (root / "gone").exists()
    assert attributes(str(root / "upper" / "marked")) == {}
    assert stat.S_IMODE((root / "upper" / "marked").stat().st_mode) == 0o444


def as_plain_user(root: Path, change: Callable[[], None]) -> None:
    """Run it in a child without rights beyond those of files' owners."""
    if os.getuid() == 0:
        for path in (root, *root.rglob("*")):
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
        for path in root.parents:
            if not path.stat().st_mode & stat.S_IXOTH:
                path.chmod(path.stat().st_mode | stat.S_IXOTH)
    child = os.fork()
    if not child:
        code = 1
        try:
            if os.getuid() == 0:
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            change()
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
