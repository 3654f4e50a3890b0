"""Lines of a file told from the whole of it, for readers that number lines and those that do not."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.speculation.sameness.lines import Range

MOST = 6
NUMBERED = Range(start="offset", count="limit", numbered=True, most=MOST)
BARE = Range(start="offset", count="limit", numbered=False, most=None)


def numbered(lines: list[str], mark: str, offset: int = 1, limit: int = MOST) -> str | None:
    """A reader that numbers lines, gives `MOST` unless told otherwise, and complains of what is not there."""
    found = list(enumerate(lines, 1))[offset - 1 : offset - 1 + limit]
    return "\n".join(f"{number:6}{mark}{line}" for number, line in found) if found else None


contents = st.lists(st.text(st.characters(exclude_characters="\n"), max_size=5), min_size=1, max_size=9)
parts = st.fixed_dictionaries({}, optional={"offset": st.integers(1, 10), "limit": st.integers(1, 10)})


@given(lines=contents, part=parts, mark=st.sampled_from("→\t"))
def test_numbered_lines_are_what_the_reader_would_have_shown(lines: list[str], part: dict[str, Any], mark: str) -> None:
    whole = numbered(lines, mark)
    assert whole is not None
    told = NUMBERED.cut(part, whole)
    if told is not None:
        assert told == numbered(lines, mark, **part)
    elif len(lines) < MOST:
        assert part.get("offset", 1) > len(lines)


@given(lines=contents, end=st.sampled_from(("\n", "")), part=parts)
def test_bare_lines_keep_their_ends(lines: list[str], end: str, part: dict[str, Any]) -> None:
    text = "\n".join(lines) + end
    start = part.get("offset", 1) - 1
    told = BARE.cut(part, text)
    if told is not None:
        assert text.split("\n", start)[-1].startswith(told)
        assert told.count("\n") <= part.get("limit", 99)
        assert told.endswith("\n") or text.endswith(told)


def test_beyond_what_a_reader_shows_nothing_is_told() -> None:
    whole = numbered([str(number) for number in range(20)], "→")
    assert whole is not None
    assert NUMBERED.cut({"offset": 2, "limit": 5}, whole) == numbered(list("012345"), "→", 2)
    assert NUMBERED.cut({"offset": 2, "limit": 6}, whole) is None
    assert NUMBERED.cut({"offset": 2}, whole) is None


@pytest.mark.parametrize(
    "text", ["", "one", "     1→one\ntwo", "     1→one\n     2\ttwo", "    1→one", "     2→two", "     1→a\n\n(cut)"]
)
def test_lines_in_another_form_tell_nothing(text: str) -> None:
    assert NUMBERED.cut({"limit": 1}, text) is None


@pytest.mark.parametrize("part", [{"offset": 0}, {"limit": 0}, {"limit": -1}, {"offset": 1.0}, {"limit": "3"}])
def test_what_names_no_lines_is_a_core_of_its_own(part: dict[str, Any]) -> None:
    assert NUMBERED.core({"file_path": "a", **part}) is None
    assert NUMBERED.cut(part, "     1→one") is None
