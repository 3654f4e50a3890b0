"""What a command looked at outside of its workspace."""

from collections.abc import Callable
from pathlib import Path

import pytest

from paste_proxy.staging.instant import Instant
from paste_proxy.staging.looks import Looks
from paste_proxy.staging.types import Refused


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in ("kept/deep", "second/deep", "workspace"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("kept/deep/file", "second/deep/file", "kept/file", "workspace/file"):
        (tmp_path / name).write_text(name)
    (tmp_path / "now").symlink_to("kept")
    return tmp_path


def looks(place: Path, *names: str, absent: tuple[str, ...] = (), made: tuple[str, ...] = ()) -> Looks:
    paths = [str(place / name) for name in names]
    return Looks(paths, _in(place, absent), str(place / "workspace"), _in(place, made))


def _in(place: Path, names: tuple[str, ...]) -> set[str]:
    return {str(place / name) for name in names}


def found(place: Path, name: str, change: Callable[[], object]) -> bool:
    """Whether a change is noticed by who looked at `name`."""
    since = Instant.taken((str(place),))
    looked = looks(place, name)
    looked.prove(since)
    change()
    try:
        looked.prove(since)
    except Refused:
        return True
    return False


def come_and_go(path: Path) -> None:
    path.touch()
    path.unlink()


def lead(path: Path, target: str) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def test_a_file_it_read(place: Path) -> None:
    assert found(place, "kept/file", lambda: (place / "kept/file").write_text("x"))
    assert found(place, "kept/file", (place / "kept/file").unlink)


def test_a_directory_it_listed(place: Path) -> None:
    assert found(place, "kept", (place / "kept/more").touch)
    assert not found(place, "kept", (place / "kept/deep/more").touch)


def test_a_name_that_led_nowhere(place: Path) -> None:
    assert found(place, "kept/none", (place / "kept/none").touch)
    (place / "kept/none").unlink()
    assert found(place, "kept/no/such/path", (place / "kept/no").mkdir)
    assert found(place, "second/none", lambda: come_and_go(place / "second/none"))
    assert found(place, "second/deep/file/none", lambda: (place / "second/deep/file").write_text("x"))


def test_a_name_that_never_led_anywhere_may_not_have_come(place: Path) -> None:
    since = Instant.taken((str(place),))
    looked = looks(place, absent=("kept/none", "no/such/path"))
    come_and_go(place / "kept/none")
    (place / "kept/other").touch()
    looked.prove(since)
    (place / "kept/none").touch()
    with pytest.raises(Refused, match="none has come"):
        looked.prove(since)


def test_a_name_that_led_nowhere_and_is_there_at_the_end_is_like_any_other(place: Path) -> None:
    since = Instant.taken((str(place),))
    (place / "kept/none").touch()
    with pytest.raises(Refused, match="none has changed"):
        looks(place, absent=("kept/none",)).prove(since)


def test_a_link_on_the_way(place: Path) -> None:
    assert found(place, "now/deep/file", lambda: lead(place / "now", "second"))


def test_the_end_of_a_link(place: Path) -> None:
    (place / "kept/link").symlink_to("../second/deep/file")
    assert found(place, "kept/link", lambda: (place / "second/deep/file").write_text("x"))


def test_a_directory_on_the_way_that_was_renamed(place: Path) -> None:
    def swap() -> None:
        (place / "kept").rename(place / "was")
        (place / "second").rename(place / "kept")

    assert found(place, "kept/deep/file", swap)


def test_what_comes_and_goes_on_the_way_is_no_matter(place: Path) -> None:
    assert not found(place, "kept/deep/file", (place / "kept/other").touch)
    assert not found(place, "kept/deep/file", (place / "another").touch)
    assert not found(place, "kept/deep/../file", (place / "kept/deep/other").touch)


def test_a_name_that_it_made_itself(place: Path) -> None:
    since = Instant.taken((str(place),))
    (place / "kept/others").touch()
    looks(place, "kept/mine", "kept/mine/inner", made=("kept/mine",)).prove(since)
    with pytest.raises(Refused):
        looks(place, "kept/not-mine").prove(since)


def test_the_workspace_and_the_machine_are_proven_otherwise(place: Path) -> None:
    assert not found(place, "workspace/file", lambda: (place / "workspace/file").write_text("x"))
    (place / "mounts").symlink_to("/proc/self/mounts")
    assert not found(place, "mounts", lambda: None)
    Looks(("/proc/self/none", "/dev/none", "/sys"), set(), str(place / "workspace"), set()).prove(Instant.taken(()))


def test_links_that_lead_in_a_circle(place: Path) -> None:
    lead(place / "a", "b")
    lead(place / "b", "a")
    assert not found(place, "a/file", lambda: None)
    assert found(place, "a", lambda: lead(place / "b", "kept/file"))
