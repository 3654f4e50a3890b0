"""What a walk comes upon, and what `.gitignore` files leave out; git itself is the judge."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from paste_proxy.tools.workbench.walking import walk

NAMES = st.sampled_from(["a", "b", "ab", "a.log", "b.log", ".hid", "#x", "!y", "a b"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
PARTS = st.sampled_from(["a", "b", "*", "*.log", "a*", "?", "[ab]", "[!a]", "**", "#x", "\\#x", "\\!y", "a b", ".hid"])
PATTERNS = st.tuples(
    st.sampled_from(["", "!", "/"]),
    st.lists(PARTS, min_size=1, max_size=3).map("/".join),
    st.sampled_from(["", "/", " "]),
).map("".join)
IGNORES = st.lists(PATTERNS, max_size=4).map("\n".join)


def left_by_git(root: Path) -> list[str]:
    listed = subprocess.run(
        ["git", "-c", "core.excludesFile=", "ls-files", "-z", "--others", "--exclude-standard"],
        cwd=root,
        env={"PATH": os.environ["PATH"], "HOME": str(root.parent), "GIT_CONFIG_NOSYSTEM": "1"},
        capture_output=True,
        check=True,
    )
    return sorted(path.decode() for path in listed.stdout.split(b"\0") if path)


def files(root: Path, start: Path | None = None, *, everything: bool = False) -> list[str]:
    found = walk(root, start or root, everything=everything)
    return sorted(entry.path for entry in found if not entry.is_folder)


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(paths=st.sets(PATHS, min_size=1, max_size=8), ignores=st.dictionaries(st.sampled_from(["", "a", "b"]), IGNORES))
@example(paths={"a/b/a", "a/a.log"}, ignores={"": "a/*\n!a/b/", "a": "*.log\n!a.log"})
def test_it_leaves_out_what_git_leaves_out(
    paths: set[str], ignores: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("tree") / "root"
    subprocess.run(["git", "init", "-q", str(root)], check=True, env={"PATH": os.environ["PATH"]})
    for path in sorted(paths):
        place = root / path
        if not any(above.is_file() for above in place.parents) and not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text("x")
    for folder, text in ignores.items():
        if (root / folder).is_dir():
            (root / folder / ".gitignore").write_text(text)
    assert files(root) == left_by_git(root)


def test_links_are_named_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "root" / "in").mkdir(parents=True)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "secret").write_text("x")
    (tmp_path / "root" / "leads").symlink_to(tmp_path / "out")
    (tmp_path / "root" / "in" / "loop").symlink_to(tmp_path / "root")
    (tmp_path / "out" / "ignore").write_text("in\n")
    (tmp_path / "root" / ".gitignore").symlink_to(tmp_path / "out" / "ignore")
    assert files(tmp_path / "root") == [".gitignore", "in/loop", "leads"]


def test_a_folder_that_is_left_out_can_be_looked_into_by_name(tmp_path: Path) -> None:
    (tmp_path / "built" / "x").mkdir(parents=True)
    (tmp_path / "built" / "x" / "a.js").write_text("")
    (tmp_path / "built" / "x" / "a.log").write_text("")
    (tmp_path / ".gitignore").write_text("built/\n*.log\n")
    assert files(tmp_path) == [".gitignore"]
    assert files(tmp_path, tmp_path / "built") == ["built/x/a.js"]
    assert files(tmp_path, everything=True) == [".gitignore", "built/x/a.js", "built/x/a.log"]
