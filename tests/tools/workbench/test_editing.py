"""`edit` and `write`: files changed as a whole or not at all."""

import asyncio
import os
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tools.workbench.bench import Bench


async def test_a_text_that_is_there_once_is_replaced(bench: Bench) -> None:
    (bench.root / "a").write_text("one\ntwo\nthree\n")
    assert await bench.ask("edit", path="a", old_text="two\n", new_text="2\n") == "a: replaced at line 2"
    assert (bench.root / "a").read_text() == "one\n2\nthree\n"


async def test_a_text_that_is_there_more_than_once_is_replaced_only_where_all_are_meant(bench: Bench) -> None:
    (bench.root / "a").write_text("x\nx = x\n")
    said = await bench.fails("edit", path="a", old_text="x", new_text="y")
    assert "3 times in a (lines 1, 2, 2), nothing was changed" in said
    assert (
        await bench.ask("edit", path="a", old_text="x", new_text="y", replace_all=True)
        == "a: replaced at lines 1, 2, 2"
    )
    assert (bench.root / "a").read_text() == "y\ny = y\n"
    (bench.root / "a").write_text("aaa")
    assert "2 times" in await bench.fails("edit", path="a", old_text="aa", new_text="b")


@pytest.mark.parametrize(
    ("old", "why"),
    [
        ("     1\tif x:\n     2\t    y()", "leave out the line numbers"),
        ("if x:\n  y()", "its first line is at line 1: read there"),
        ("nothing like it", "read the file again"),
    ],
)
async def test_a_text_that_is_not_there_is_told_why(bench: Bench, old: str, why: str) -> None:
    (bench.root / "a").write_text("if x:\n    y()\n")
    said = await bench.fails("edit", path="a", old_text=old, new_text="z")
    assert "nothing was changed" in said
    assert why in said
    assert (bench.root / "a").read_text() == "if x:\n    y()\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a\r\nb\r\n", b"a\r\nB\r\nC\r\n"),
        (b"\xef\xbb\xbfa\nb\n", b"\xef\xbb\xbfa\nB\nC\n"),
        (b"\xe9\nb\n", b"\xe9\nB\nC\n"),
        ("ü\nb\n".encode("utf-16"), "ü\nB\nC\n".encode("utf-16")),
        (b"mixed\r\nb\n", b"mixed\r\nB\nC\n"),
    ],
)
async def test_encoding_and_line_ends_stay(bench: Bench, before: bytes, after: bytes) -> None:
    (bench.root / "a").write_bytes(before)
    await bench.ask("edit", path="a", old_text="b\n", new_text="B\nC\n")
    assert (bench.root / "a").read_bytes() == after


async def test_what_the_encoding_cannot_write_is_refused(bench: Bench) -> None:
    (bench.root / "a").write_bytes(b"\xe9\n")
    assert "latin-1, which has no '😀'" in await bench.fails("edit", path="a", old_text="é", new_text="😀")
    assert (bench.root / "a").read_bytes() == b"\xe9\n"


pieces = st.text(st.sampled_from("ab\n\r é"), max_size=6)


@settings(
    max_examples=100, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(before=pieces, after=pieces, new=pieces, encoding=st.sampled_from(["utf-8", "latin-1"]))
async def test_nothing_but_the_text_changes(tmp_path: Path, before: str, after: str, new: str, encoding: str) -> None:
    bench, old = Bench(tmp_path), "<old>"
    begin, end = f"é{before}".encode(encoding), after.encode(encoding)
    (tmp_path / "a").write_bytes(begin + old.encode() + end)
    await bench.ask("edit", path="a", old_text=old, new_text=new)
    data = (tmp_path / "a").read_bytes()
    assert data.startswith(begin)
    assert data.endswith(end)
    middle = data[len(begin) : len(data) - len(end)].decode(encoding)
    assert middle.replace("\r\n", "\n") == new.replace("\r\n", "\n")


async def test_mode_and_other_names_of_a_file_stay_and_nothing_else_is_left(bench: Bench) -> None:
    program, twin = bench.root / "run.sh", bench.root / "twin"
    program.write_text("one\n")
    program.chmod(0o755)
    await bench.ask("edit", path="run.sh", old_text="one", new_text="two")
    assert stat.S_IMODE(program.stat().st_mode) == 0o755
    os.link(program, twin)
    await bench.ask("write", path="run.sh", content="three\n")
    assert (twin.read_text(), stat.S_IMODE(twin.stat().st_mode)) == ("three\n", 0o755)
    assert sorted(path.name for path in bench.root.iterdir()) == ["run.sh", "twin"]


async def test_a_new_file_gets_its_folders_and_the_usual_mode(bench: Bench) -> None:
    mask = os.umask(0o027)
    try:
        assert await bench.ask("write", path="x/y/a.txt", content="é") == "x/y/a.txt: created, 2 bytes"
    finally:
        os.umask(mask)
    made = bench.root / "x" / "y" / "a.txt"
    assert (made.read_bytes(), stat.S_IMODE(made.stat().st_mode)) == ("é".encode(), 0o640)
    assert await bench.ask("write", path="x/y/a.txt", content="") == "x/y/a.txt: written anew, 0 bytes"
    assert "is a folder" in await bench.fails("write", path="x", content="")
    assert await bench.fails("write", path="x/y/a.txt/z", content="")


async def test_many_edits_at_once_are_all_made(bench: Bench) -> None:
    (bench.root / "a").write_text("".join(f"<{number}>" for number in range(40)))
    asks = (bench.ask("edit", path="a", old_text=f"<{number}>", new_text=f"{number},") for number in range(40))
    await asyncio.gather(*asks)
    assert (bench.root / "a").read_text() == "".join(f"{number}," for number in range(40))


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"old_text": "", "new_text": "x"}, "old_text"),
        ({"old_text": "a", "new_text": "a"}, "are the same"),
        ({"old_text": "a"}, "new_text: Field required"),
    ],
)
async def test_what_makes_no_sense_is_told(bench: Bench, arguments: dict[str, str], why: str) -> None:
    (bench.root / "f").write_text("a")
    assert why in await bench.fails("edit", path="f", **arguments)


async def test_binary_files_are_not_edited(bench: Bench) -> None:
    (bench.root / "f").write_bytes(b"a\0b")
    assert "not text" in await bench.fails("edit", path="f", old_text="a", new_text="b")
