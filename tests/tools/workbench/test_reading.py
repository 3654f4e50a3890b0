"""`read`: numbered lines, whole or in part."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paste_proxy.events.invocation import Invocation
from paste_proxy.proxy.named_files import read_policy
from paste_proxy.speculation.sameness.lines import Range
from paste_proxy.tools.workbench.reading import LINES
from tests.tools.workbench.bench import Bench

POLICY = read_policy("builtin:workbench")
SAME = POLICY.rule_for(Invocation("workbench/read", {})).same


async def test_lines_come_with_their_numbers(bench: Bench) -> None:
    (bench.root / "a.txt").write_bytes(b"one\n\n  three\nend")
    assert await bench.ask("read", path="a.txt") == "     1\tone\n     2\t\n     3\t  three\n     4\tend"
    assert await bench.ask("read", path="a.txt", offset=2, limit=2) == "     2\t\n     3\t  three"
    assert await bench.ask("read", path="a.txt", offset=4, limit=9) == "     4\tend"
    assert "has 4 lines" in await bench.fails("read", path="a.txt", offset=5)
    (bench.root / "empty").touch()
    assert await bench.ask("read", path="empty") == "[the file is empty]"


def test_the_policy_knows_how_many_lines_are_shown() -> None:
    assert isinstance(SAME.lines, Range)
    assert SAME.lines.most == LINES


async def test_a_long_file_says_how_to_go_on_and_going_on_gives_all_of_it(bench: Bench) -> None:
    lines = [f"line {number} " + "x" * (number % 90) for number in range(1, 5_001)]
    (bench.root / "a.txt").write_text("\n".join(lines))
    read, offset = list[str](), 1
    while True:
        *shown, last = (await bench.ask("read", path="a.txt", offset=offset)).split("\n")
        if not last.startswith("["):
            read += [*shown, last]
            break
        read += shown
        assert last == f"[lines {offset} to {len(read)} of 5000; to go on, read with offset {len(read) + 1}]"
        offset = len(read) + 1
    assert [line.partition("\t")[2] for line in read] == lines


async def test_a_long_line_is_cut(bench: Bench) -> None:
    (bench.root / "a.txt").write_text("x" * 5_000 + "\nend")
    first, second = (await bench.ask("read", path="a.txt")).split("\n")
    assert first == "     1\t" + "x" * 2_000 + " [3000 more characters]"
    assert second == "     2\tend"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("é😀\r\nzwei\r\n".encode(), "é😀|zwei"),
        (b"caf\xe9\nna\xefve", "café|naïve"),
        (b"\xef\xbb\xbfone", "one"),
        ("ü\nb".encode("utf-16"), "ü|b"),
        ("ü\nb".encode("utf-16-be"), None),
        (b"a\x0cb\x1fc\n", "a\x0cb\x1fc"),
        ("a\u2028b\n".encode(), "a\u2028b"),
        (b"mixed\r\nends\n", "mixed\r|ends"),
    ],
)
async def test_text_of_any_encoding_is_shown(bench: Bench, data: bytes, text: str | None) -> None:
    (bench.root / "a.txt").write_bytes(data)
    if text is None:
        assert "binary data" in await bench.fails("read", path="a.txt")
        return
    said = await bench.ask("read", path="a.txt")
    assert [line[7:] for line in said.split("\n")] == text.split("|")


@pytest.mark.parametrize(
    ("data", "kind"), [(b"\x89PNG\r\n\x1a\n...", "PNG"), (b"\x7fELF\x02", "ELF"), (b"a\0b", "binary data")]
)
async def test_what_is_no_text_is_named(bench: Bench, data: bytes, kind: str) -> None:
    (bench.root / "a").write_bytes(data)
    assert kind in await bench.fails("read", path="a")


words = st.one_of(st.binary(max_size=6), st.sampled_from([b"", b"\r", b"x" * 2_001, "é\u2028".encode(), b"     7\t"]))
files = st.lists(st.tuples(words, st.sampled_from([b"\n", b"\r\n", b"\n"])), max_size=8).map(
    lambda lines: b"".join(word + end for word, end in lines)
)
parts = st.dictionaries(st.sampled_from(["offset", "limit"]), st.integers(0, 12))


@settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=files, part=parts)
async def test_part_of_a_file_told_from_the_whole_is_what_reading_the_part_gives(
    tmp_path: Path, data: bytes, part: dict[str, int]
) -> None:
    bench = Bench(tmp_path)
    (tmp_path / "a").write_bytes(data)
    asked, whole = Invocation("workbench/read", {"path": "a", **part}), Invocation("workbench/read", {"path": "a"})
    told = SAME.derived(asked, whole, await bench.result("read", path="a"), 0.0)
    if told is not None:
        assert told == await bench.result("read", path="a", **part)


@pytest.mark.parametrize("lines", [3, 1_999, 2_000, 2_001, 5_000])
@pytest.mark.parametrize("part", [{}, {"offset": 2}, {"limit": 2}, {"offset": 1_999, "limit": 1}, {"limit": 4_000}])
async def test_so_it_is_for_files_about_as_long_as_what_is_shown(
    bench: Bench, lines: int, part: dict[str, int]
) -> None:
    (bench.root / "a").write_text("".join(f"{number}\n" for number in range(lines)))
    asked, whole = Invocation("workbench/read", {"path": "a", **part}), Invocation("workbench/read", {"path": "a"})
    told = SAME.derived(asked, whole, await bench.result("read", path="a"), 0.0)
    assert told is None or told == await bench.result("read", path="a", **part)
    assert told is not None or lines >= 2_000 or part.get("offset", 1) > lines
