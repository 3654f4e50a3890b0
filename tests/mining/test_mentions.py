"""What texts mention, against searching them from end to end."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from paste_proxy.mining import dates as dates_module
from paste_proxy.mining.dates import dated, dates, year_in
from paste_proxy.mining.mentions import KINDS, mentioned, words_by_shape
from paste_proxy.mining.shapes import PLAIN, shape_of

PIECES = st.sampled_from(
    [
        *(
            "2024-05-20",
            "2024-05-2",
            "12024-05-20",
            "-05-06",
            "May",
            "may",
            "Sept.",
            "december",
            "5",
            "31st",
            "2nd",
            "of",
        ),
        *("2023", ",", ".", " ", "\n", "  ", "_", "/", "-", "é", "İ", "x", "Mar", "mark", "\u00a0", "3 of May 2021"),
        *(
            "src/a.py",
            "/etc/hosts",
            "./b.c",
            "~/d.e:12",
            "https://a.b/c",
            "@",
            "#tag",
            "'it's'",
            '"q"',
            "`c`",
            "A1",
            "JFK",
        ),
        *(
            "1,234.50",
            "v1.2",
            "a_b-3",
            "Ann Lee",
            "NASA of the West",
            "naïve",
            "ABCDEFGHIJKLMNOPQRS",
            "(",
            ")",
            ":",
            "+",
            "-",
            "12,345",
            "1,2345",
            "٣",
        ),
    ]
)
TEXTS = st.lists(PIECES, max_size=14).map("".join) | st.lists(PIECES, max_size=14).map(" ".join) | st.text(max_size=40)


@given(TEXTS)
def test_dates_are_found_wherever_the_whole_text_holds_one(text: str) -> None:
    for pattern in (dates_module._DATE, dates_module._YEAR):
        anywhere = [found.span() for found in pattern.finditer(text) if "ſ" not in found[0]]
        assert [found.span() for found in dates_module._matches(pattern, text)] == anywhere


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("on 2024-05-20, May 5th, 3 of June 2021 and Feb 30", ["2024-05-20", "-05-05", "2021-06-03", "-02-30"]),
        ("May 99, 5 marks, dismay 3", ["-03-05"]),
        ("2024-05-2024-06-01", ["2024-06-01"]),
        ("İ May 5 İİ 6 May", ["-05-05", "-05-06"]),
        ("ſep 5", []),
    ],
)
def test_dates_as_iso(text: str, found: list[str]) -> None:
    assert list(dates(text)) == found


def test_a_date_without_a_year_takes_the_latest_that_was_named() -> None:
    assert year_in("in May 2021, not 2019-01-01") == "2021"
    assert year_in("no date") is None
    assert year_in("in May 2021", beyond="2021") is year_in("on 2020-01-01", beyond="2021") is None
    assert year_in("in May 2021", beyond="2020") == "2021"
    assert dated("-05-05", "2021") == "2021-05-05"
    assert dated("-05-05", None) is None
    assert dated("2020-05-05", None) == "2020-05-05"


@given(TEXTS)
def test_paths_are_those_that_a_search_of_the_whole_text_finds(text: str) -> None:
    from paste_proxy.mining.mentions import _PATH

    assert mentioned("path", text) == list(dict.fromkeys(_PATH.findall(text)))[:60]


@given(TEXTS)
def test_names_tags_and_quotes_begin_at_an_edge_of_a_word(text: str) -> None:
    name = r"\b[A-Z][\w'&.-]*(?: (?:(?:of|the|and|de|la) )?[A-Z][\w'&-]*){0,4}"
    assert mentioned("name", text) == list(dict.fromkeys(re.findall(name, text)))
    assert mentioned("tag", text) == list(dict.fromkeys(re.findall(r"(?<![\w#@])[#@][A-Za-z]\w+", text)))


@given(TEXTS)
def test_every_kind_gives_distinct_values_and_sixty_at_most(text: str) -> None:
    for kind in KINDS:
        found = mentioned(kind, text * 30)
        assert len(found) == len(set(found)) <= 60


@given(TEXTS)
@example("naïve A1")
def test_words_are_those_of_a_shape_that_is_not_plain(text: str) -> None:
    words = re.findall(r"[A-Za-z0-9_](?:[\w.@+-]*\w)?", text)
    expected: dict[str, dict[str, None]] = {}
    for word in words:
        if shape_of(word) not in ("", *PLAIN):
            expected.setdefault(shape_of(word), {})[word] = None
    assert words_by_shape(text) == {shape: list(some)[:60] for shape, some in expected.items()}


@given(TEXTS)
def test_numbers_begin_at_no_word(text: str) -> None:
    number = r"(?<![\w.,])-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w.]\w)"
    found = [one.replace(",", "") for one in re.findall(number, text)]
    assert mentioned("number", text) == list(dict.fromkeys(found))


@pytest.mark.parametrize(
    ("word", "shape"),
    [
        *(
            ("mia_li_3668", "a_a_9"),
            ("H8Q05L", "X6"),
            ("JFK", "X3"),
            ("2024-05-20", "9-9-9"),
            ("a1b", "x"),
            ("x" * 81, ""),
        ),
        *(
            ("naïve", "aaa"),
            ("É", "X1"),
            ("I", "X1"),
            ("WAUZZZF4XNA123456", "A"),
            ("A" * 17, "A"),
            ("Word", "Aa"),
            ("", ""),
            ("٣", "9"),
        ),
    ],
)
def test_shapes(word: str, shape: str) -> None:
    assert shape_of(word) == shape
