"""A folder that stands in for another: what is read, written, renamed and created there."""

import os
from pathlib import Path

import pytest

from paste_proxy.agents.wrap.home import Mirror, bring_back, mirror


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "user"
    (folder / "chats").mkdir(parents=True)
    (folder / "chats/old.json").write_text("old")
    (folder / "login.json").write_text("token 1")
    (folder / "settings.json").write_text("mine")
    return folder


@pytest.fixture
def mirrored(source: Path, tmp_path: Path) -> Mirror:
    return mirror(source, tmp_path / "place", own=("settings.json",))


def test_everything_is_there_but_what_is_written_anew(mirrored: Mirror) -> None:
    assert names(mirrored.place) == ["chats", "login.json"]
    assert (mirrored.place / "chats/old.json").read_text() == "old"


def test_what_is_written_through_a_link_is_the_users_at_once(source: Path, mirrored: Mirror) -> None:
    (mirrored.place / "login.json").write_text("token 2")
    (mirrored.place / "chats/new.json").write_text("new")
    assert (source / "login.json").read_text() == "token 2"
    assert (source / "chats/new.json").read_text() == "new"


def test_a_file_renamed_over_a_link_is_brought_back(source: Path, mirrored: Mirror) -> None:
    waiting = mirrored.place / "login.tmp"
    waiting.write_text("token 2")
    waiting.rename(mirrored.place / "login.json")
    assert (source / "login.json").read_text() == "token 1"
    assert bring_back(mirrored) == ()
    assert (source / "login.json").read_text() == "token 2"
    assert not (source / "login.json").is_symlink()


def test_what_is_new_is_brought_back_and_ours_is_not(source: Path, mirrored: Mirror) -> None:
    (mirrored.place / "settings.json").write_text("ours")
    (mirrored.place / "tmp/a").mkdir(parents=True)
    (mirrored.place / "tmp/a/log").write_text("log")
    assert bring_back(mirrored) == ()
    assert (source / "settings.json").read_text() == "mine"
    assert (source / "tmp/a/log").read_text() == "log"


def test_a_folder_that_somebody_made_meanwhile_is_filled_up(source: Path, mirrored: Mirror) -> None:
    for folder in (source, mirrored.place):
        (folder / "tmp").mkdir()
        (folder / "tmp" / folder.name).write_text(folder.name)
    bring_back(mirrored)
    assert names(source / "tmp") == ["place", "user"]


def test_a_later_version_of_the_users_stays(source: Path, mirrored: Mirror) -> None:
    path = mirrored.place / "login.json"
    path.unlink()
    path.write_text("token 2")
    os.utime(path, (1, 1))
    bring_back(mirrored)
    assert (source / "login.json").read_text() == "token 1"


def test_a_users_own_link_stays_a_link(source: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("1")
    (source / "login.json").unlink()
    (source / "login.json").symlink_to(real)
    mirrored = mirror(source, tmp_path / "place")
    (mirrored.place / "login.json").unlink()
    (mirrored.place / "login.json").write_text("2")
    bring_back(mirrored)
    assert (source / "login.json").is_symlink()
    assert real.read_text() == "2"


def test_a_folder_that_was_not_there_comes_into_being_only_when_there_is_something_for_it(tmp_path: Path) -> None:
    mirrored = mirror(tmp_path / "none", tmp_path / "place", own=("settings.json",))
    (mirrored.place / "settings.json").write_text("ours")
    bring_back(mirrored)
    assert not (tmp_path / "none").exists()
    (mirrored.place / "id").write_text("1")
    bring_back(mirrored)
    assert names(tmp_path / "none") == ["id"]


def test_what_cannot_be_moved_is_told(source: Path, mirrored: Mirror) -> None:
    (mirrored.place / "new").write_text("1")
    (source / "new").mkdir()
    assert bring_back(mirrored) == (mirrored.place / "new",)
