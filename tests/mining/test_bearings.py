"""Paths made whole by the folders that a session has named."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.mining.bearings import Bearings


def bearings(*paths: str) -> Bearings:
    found = Bearings()
    found.visit(paths)
    return found


@pytest.mark.parametrize(
    ("path", "whole"),
    [
        ("src/api/routes.ts", "/home/me/app/src/api/routes.ts"),
        ("./src/api/routes.ts", "/home/me/app/src/api/routes.ts"),
        ("api/routes.ts", "/home/me/app/src/api/routes.ts"),
        ("src/other/new.ts", "/home/me/app/src/other/new.ts"),
        ("app/README.md", "/home/me/app/README.md"),
        ("routes.ts", None),
        ("lib/routes.ts", None),
        ("../api/routes.ts", None),
        ("", None),
    ],
)
def test_a_path_is_made_whole_by_the_folder_it_begins_with(path: str, whole: str | None) -> None:
    assert bearings("/home/me/app/src/api/db.ts").whole(path) == whole


def test_a_path_of_another_checkout_is_moved_here() -> None:
    here = bearings("/home/me/app/src/api/db.ts")
    assert here.whole("/builds/77/app/src/api/routes.ts") == "/home/me/app/src/api/routes.ts"
    assert here.whole("/builds/77/app/src/new/a.ts") == "/home/me/app/src/new/a.ts"


def test_one_folder_name_in_common_moves_no_absolute_path() -> None:
    here = bearings("/home/me/app/src/api/db.ts")
    assert here.whole("/builds/77/app/docs/a.md") is None
    assert here.whole("/etc/hosts") is None


def test_the_folder_named_last_is_meant() -> None:
    here = bearings("/a/one/src/x.py", "/a/two/src/x.py")
    assert here.whole("src/y.py") == "/a/two/src/y.py"
    here.visit(["/a/one/src/z.py"])
    assert here.whole("src/y.py") == "/a/one/src/y.py"


@given(st.lists(st.text("ab/", max_size=12) | st.just("/" + "x" * 400 + "/y/z"), max_size=20), st.text("ab/."))
def test_a_whole_path_stands_in_a_folder_that_was_visited(paths: list[str], path: str) -> None:
    here = bearings(*paths)
    whole = here.whole(path)
    if whole is not None:
        folders = {one[:end] for one in paths for end in range(len(one)) if one[end] == "/"}
        assert any(whole.startswith(folder + "/") for folder in folders if folder)
        assert whole.rpartition("/")[2] == path.rpartition("/")[2]


def test_no_more_than_four_hundred_folders_are_remembered_and_the_first_are_forgotten() -> None:
    here = Bearings()
    for number in range(500):
        here.visit([f"/home/u{number}/p{number}/x.py"])
    assert len(here._folders) == 400
    assert here.whole("p0/y.py") is None
    assert here.whole("p499/y.py") == "/home/u499/p499/y.py"


def test_the_stamp_changes_with_what_it_knows_and_only_then() -> None:
    here = bearings("/a/b/c.py")
    stamp = here.stamp
    here.visit(["/a/b/d.py", "relative/e.py"])
    here.see("nothing dated")
    assert here.stamp == stamp
    here.see("on 2024-05-01")
    assert here.stamp != stamp
    stamp = here.stamp
    here.visit(["/z/b/d.py"])
    assert here.stamp != stamp


def test_a_fork_goes_its_own_way() -> None:
    here = bearings("/a/b/c.py")
    fork = here.fork()
    fork.visit(["/z/b/c.py"])
    assert (here.whole("b/d.py"), fork.whole("b/d.py")) == ("/a/b/d.py", "/z/b/d.py")
