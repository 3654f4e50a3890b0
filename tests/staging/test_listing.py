"""Directories whose names a view shows in another order than usual."""

from pathlib import Path

import pytest

from paste_proxy.staging.listing import Listings
from paste_proxy.staging.normal import run
from tests.staging.runs import OUTPUT_BYTES, PROGRAM, Views
from tests.staging.test_trace import read, traced
from tests.staging.workplace import staged

WORKSPACE = "/nowhere/ws"
OLD = {f"{WORKSPACE}/old", f"{WORKSPACE}/old/a", f"{WORKSPACE}/old/b", f"{WORKSPACE}/other"}
LIST = b'2     openat(AT_FDCWD</nowhere/ws>, "old", O_RDONLY|O_DIRECTORY) = 3</nowhere/ws/old>\n'
MAKE = b'2     openat(AT_FDCWD</nowhere/ws>, "old/new", O_WRONLY|O_CREAT, 0666) = 3</nowhere/ws/old/new>\n'


def poisoned(*lines: bytes) -> bool:
    return any("another order" in poison for poison in read(b"".join(lines), below=OLD)[1])


def call(text: bytes) -> bytes:
    return b"2     " + text + b"\n"


def test_it_lists_a_directory_to_which_it_has_added_a_name() -> None:
    assert poisoned(MAKE, LIST)
    assert not poisoned(LIST, MAKE)
    assert not poisoned(MAKE)


@pytest.mark.parametrize(
    "making",
    [
        b'creat("/nowhere/ws/old/new", 0666) = 3',
        b'mkdirat(AT_FDCWD</nowhere/ws>, "old/new", 0777) = 0',
        b'symlink("a", "/nowhere/ws/old/new") = 0',
        b'linkat(AT_FDCWD</x>, "/nowhere/ws/old/a", AT_FDCWD</x>, "/nowhere/ws/old/new", 0) = 0',
        b'rename("/nowhere/ws/old/a", "/nowhere/ws/old/new") = 0',
        b'rename("/tmp/x", "/nowhere/ws/old/new") = 0',
        b'bind(3, {sa_family=AF_UNIX, sun_path="/nowhere/ws/old/new"}, 14) = 0',
    ],
)
def test_however_the_name_came_there(making: bytes) -> None:
    assert poisoned(call(making), LIST)


@pytest.mark.parametrize(
    "doing",
    [
        b'openat(AT_FDCWD</nowhere/ws>, "old/a", O_WRONLY|O_CREAT, 0666) = 3</nowhere/ws/old/a>',
        b'rename("/nowhere/ws/old/b", "/nowhere/ws/old/a") = 0',
        b'unlink("/nowhere/ws/old/a") = 0',
        b'mkdir("/nowhere/ws/old/new", 0777) = -1 EEXIST (File exists)',
        b'openat(AT_FDCWD</nowhere>, "/tmp/new", O_WRONLY|O_CREAT, 0666) = 3</tmp/new>',
    ],
)
def test_a_name_of_old_or_elsewhere_is_none_that_came(doing: bytes) -> None:
    assert not poisoned(call(doing), LIST)


def test_a_name_that_has_gone_again_does_not_count() -> None:
    assert not poisoned(MAKE, call(b'unlinkat(4</nowhere/ws/old>, "new", 0) = 0'), LIST)
    assert not poisoned(MAKE, call(b'rename("/nowhere/ws/old/new", "/nowhere/ws/old/a") = 0'), LIST)


def test_a_directory_of_its_own_is_listed_as_usual() -> None:
    made = b'openat(AT_FDCWD</nowhere/ws>, "own/new", O_WRONLY|O_CREAT, 0666) = 3</nowhere/ws/own/new>'
    listed = b'openat(AT_FDCWD</nowhere/ws>, "own", O_RDONLY|O_DIRECTORY) = 3</nowhere/ws/own>'
    assert not poisoned(call(b'mkdir("/nowhere/ws/own", 0777) = 0'), call(made), call(listed))


def test_a_directory_that_was_moved_is_of_old() -> None:
    moved = call(b'rename("/nowhere/ws/old", "/nowhere/ws/there") = 0')
    listed = call(b'openat(AT_FDCWD</nowhere/ws>, "there", O_RDONLY|O_DIRECTORY) = 3</nowhere/ws/there>')
    made = call(b'creat("/nowhere/ws/there/new", 0666) = 3')
    assert poisoned(MAKE, moved, listed)
    assert poisoned(moved, made, listed)


@pytest.mark.parametrize(
    ("execve", "counts"),
    [
        (b'"/usr/bin/ls", ["ls", "-la"], 0x5', False),
        (b'"/usr/bin/ls", ["ls", "-aU"], 0x5', True),
        (b'"/bin/bash", ["bash", "-c", "echo *"], 0x5', False),
        (b'"/usr/bin/python3.12", ["python"], 0x5', True),
        (b'"/usr/bin/find", ["find"], 0x5', True),
        (b'"/usr/bin/pythonic", ["pythonic"], 0x5', True),
    ],
)
def test_some_programs_put_names_in_order_themselves(execve: bytes, counts: bool) -> None:
    became = call(b"execve(" + execve + b" /* 3 vars */) = 0")
    assert poisoned(MAKE, became, LIST) == counts
    forked = call(b"clone(child_stack=NULL, flags=SIGCHLD) = 5")
    assert poisoned(MAKE, became, forked, b"5" + LIST[1:], b"5     +++ exited with 0 +++\n") == counts


def test_a_script_is_what_runs_it(tmp_path: Path) -> None:
    script = tmp_path / "tool"
    became = call(b'execve("%s", ["tool"], 0x5 /* 3 vars */) = 0' % bytes(script))
    script.write_text("#!/bin/sh -e\n")
    assert not poisoned(MAKE, became, LIST)
    script.write_text("#!/usr/bin/ruby\n")
    assert poisoned(MAKE, became, LIST)


def test_python_looks_for_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ws" / "data").mkdir(parents=True)
    monkeypatch.setattr(Listings, "_is_of_old", lambda *_: True)  # as they would be in a view
    below = {str(tmp_path / "ws"), str(tmp_path / "ws" / "data")}

    def lists(folder: str, cwd: str = "ws/data") -> bool:
        lines = (
            b'execve("/usr/bin/python3", ["python3"], 0x5 /* 3 vars */) = 0',
            b'creat("%s/%s/new", 0666) = 3' % (bytes(tmp_path), folder.encode()),
            b'openat(AT_FDCWD<%s/%s>, "%s/%s", O_RDONLY|O_DIRECTORY) = 3'
            % (bytes(tmp_path), cwd.encode(), bytes(tmp_path), folder.encode()),
        )
        text = b"".join(map(call, lines))
        return "another order" in str(traced(text, below=below, workspace=str(tmp_path / "ws"))[1])

    assert lists("ws")
    assert not lists("ws", cwd="ws")
    assert lists("ws/data", cwd="ws")
    (tmp_path / "ws" / "data" / "module.py").touch()
    assert not lists("ws/data", cwd="ws")


_MANY = "for i in 1 2 3 4 5 6 7 8 9; do echo >many/new$i; done"

SAME = [
    "find many",
    "find many; " + _MANY,
    _MANY + "; ls many; echo many/*",
    "rm many/3 many/5; echo x >>many/7; echo x >t; mv t many/8; find many",
    "rm many/3; echo again >many/3; find many",
    "mkdir own; for i in 1 2 3 4 5 6 7 8 9; do echo >own/$i; done; rm own/4; mv own many/in; find many/in",
    "mv many moved; find moved",
    "mkdir -p a/b; touch a/b/x a/y a/z; mv a/b/x a; find a",
]


@pytest.mark.parametrize("command", SAME)
async def test_where_no_name_came_before_it_is_the_usual_order(views: Views, place: Path, command: str) -> None:
    made = staged(place, "mkdir many; for i in 1 2 3 4 5 6 7 8 9; do echo $i >many/$i; done")
    assert (await run(made, output_bytes=OUTPUT_BYTES)).exit_code == 0
    asked = staged(place, command)
    seen = await views.run(asked)
    assert seen.poisons == ()
    assert seen.output == (await run(asked, output_bytes=OUTPUT_BYTES)).output


async def test_where_one_came_it_is_not_committed_unless_it_cannot_be_told(views: Views, place: Path) -> None:
    for command, why in (
        ("touch new; find .", "another order"),
        ("mv sub moved; touch moved/new; find moved", "another order"),
        (f"touch sub/new; {PROGRAM} -c 'import os; print(os.listdir(\"sub\"))'", "another order"),
        (f"touch new; {PROGRAM} -c 'import tabnanny, this'", ""),
    ):
        if views.tier == "user" and "mv sub" in command:
            continue  # it comes upon a border
        ran = await views.run(staged(place, command))
        assert bool(ran.poisons) == bool(why), (command, ran)
        assert why in str(ran.poisons), (command, ran)
