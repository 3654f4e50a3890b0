"""The pool as a text: written, read, refused."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.errors import InputFault
from paste_proxy.mining.calibration import Calibration
from paste_proxy.mining.estimate import Count
from paste_proxy.mining.filled import Filled
from paste_proxy.mining.mappers import Constant, Mapper
from paste_proxy.mining.pattern import Pattern
from paste_proxy.mining.pool import Origin, Pool, ToolFacts, combine
from paste_proxy.mining.provenance import digests
from paste_proxy.mining.sources import Source
from paste_proxy.mining.steps import Step
from paste_proxy.mining.storage import dump_pool, load_pool, parse_pool
from paste_proxy.mining.templates import Repeat, Template

COUNTS = st.builds(
    lambda numbers: Count(*sorted(numbers, reverse=True)[:1], *sorted(numbers)[:2]),
    st.lists(st.integers(0, 50), min_size=3, max_size=3),
)
TEMPLATES = st.sampled_from(
    [
        Repeat("test"),
        Template("list", ()),
        Template("fetch", (("n", Constant([1, "a"])), ("url", Mapper(Source("output", "search"), "url", last=True)))),
    ]
)
PATTERNS = st.builds(
    Pattern,
    TEMPLATES,
    st.lists(st.dictionaries(st.sampled_from(["", "user", "ok search"]), COUNTS), max_size=3).map(tuple),
    st.integers(0, 9),
    st.text(max_size=8),
)
NUMBERS = st.integers(0, 9)
POOLS = st.builds(
    Pool,
    st.lists(PATTERNS, max_size=4).map(tuple),
    st.dictionaries(st.text(max_size=5), st.builds(ToolFacts, st.integers(0, 99), st.none() | st.floats(0, 1e6))),
    st.sampled_from([Calibration(), Calibration(((0.1, 0.0), (0.5, 0.4)))]),
    st.builds(
        Origin,
        st.integers(0, 9),
        st.integers(0, 9),
        st.integers(0, 9),
        st.lists(st.text(), max_size=2).map(tuple),
        st.lists(st.text(), max_size=9).map(digests),
        st.lists(st.text(), max_size=9).map(digests),
        st.integers(0, 99),
    ),
)


@given(POOLS)
def test_a_pool_reads_as_it_was_written(pool: Pool) -> None:
    text = dump_pool(pool)
    assert load_pool(text, "pool.json") == pool
    assert dump_pool(load_pool(text, "pool.json")) == text


GOOD = dump_pool(Pool((Pattern(Repeat("test"), ({"": Count(4, 1, 2)},), 2, "test#1"),), {"test": ToolFacts(3, 1.5)}))


@pytest.mark.parametrize(
    ("was", "becomes", "key"),
    [
        ('"paste-proxy patterns"', '"other"', "pool.json: format"),
        ('"version": 1', '"version": 2', "pool.json: version"),
        ('"repeat": true', '"repeat": true, "tool": 7', "pool.json: patterns[0].tool"),
        ("[4,1,2]", "[4,3,2]", "pool.json: patterns[0].ranks[0]['']"),
        ("[4,1,2]", "[4,1]", "pool.json: patterns[0].ranks[0]['']"),
        ("[4,1,2]", '"many"', "pool.json: patterns[0].ranks[0]['']"),
        ('"median_s":1.5', '"median_s":-1', "pool.json: tools.test.median_s"),
        ('"calibration": []', '"calibration": [[2,1]]', "pool.json: calibration"),
        ('"calibration": []', '"calibration": [[0.5,0.1],[0.2,0.3]]', "pool.json: calibration"),
        ('"patterns": [', '"patterns": 3, "x": [', "pool.json: patterns"),
        ("{", "", "pool.json: is not JSON"),
    ],
)
def test_a_malformed_pool_is_refused_with_file_and_key(was: str, becomes: str, key: str) -> None:
    assert was in GOOD
    with pytest.raises(InputFault, match=re.escape(key)):
        load_pool(GOOD.replace(was, becomes, 1), "pool.json")


TOML = """
[[pattern]]
id = "first"
tool = "fetch"
after = "ok search"
confidence = 0.5
arguments.url = { from = "output", tool = "search", take = "url" }
"""


def test_patterns_can_be_written_by_people() -> None:
    (pattern,) = parse_pool(TOML, "mine.toml").patterns
    assert pattern.template == Template("fetch", (("url", Mapper(Source("output", "search"), "url")),))
    assert pattern.ranks[0]["ok search"] == Count(40, 20, 20)


@pytest.mark.parametrize(
    ("was", "becomes", "key"),
    [
        ("confidence = 0.5", "confidence = 5", "mine.toml: pattern[0].confidence"),
        ("confidence = 0.5", "", "mine.toml: pattern[0].confidence"),
        ("after =", "afer =", "mine.toml: pattern[0].afer"),
        ('id = "first"', "", "mine.toml: pattern[0].id"),
        ("[[pattern]]", "[[patterns]]", "mine.toml: patterns"),
        ("[[pattern]]", "[[pattern", "mine.toml: is not TOML"),
        ('take = "url"', 'take = "uri"', "mine.toml: pattern[0].arguments.url.take"),
        ("confidence = 0.5", 'confidence = 0.5\nrepeat = "yes"', "mine.toml: pattern[0].repeat"),
        ("confidence = 0.5", "confidence = 0.5\nrepeat = true", "mine.toml: pattern[0].arguments"),
        ('"ok search"', '"okay search"', "mine.toml: pattern[0].after: 'okay search'; expected ok or error"),
        ('"ok search"', '"search"', "mine.toml: pattern[0].after: 'search'; expected user, llm,"),
    ],
)
def test_a_malformed_written_pattern_is_refused_with_file_and_key(was: str, becomes: str, key: str) -> None:
    with pytest.raises(InputFault, match=re.escape(key)):
        parse_pool(TOML.replace(was, becomes, 1), "mine.toml")


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "pattern = []"])
def test_a_file_without_a_pattern_is_refused(text: str) -> None:
    with pytest.raises(InputFault, match=re.escape("mine.toml: pattern: no pattern; expected [[pattern]] tables")):
        parse_pool(text, "mine.toml")


def test_two_patterns_of_one_name_are_refused() -> None:
    with pytest.raises(InputFault, match=re.escape("mine.toml: pattern[1].id: 'first' again")):
        parse_pool(TOML + TOML, "mine.toml")


def test_a_command_with_holes_can_be_written_by_people() -> None:
    text = """
        [[pattern]]
        id = "test"
        tool = "sh"
        confidence = 0.5
        [pattern.arguments.command]
        text = "cd {folder} && pytest {file} -q"
        holes.folder = { from = "user", take = "path" }
        holes.file = { from = "output", tool = "find", take = "path", which = "each" }
        [pattern.arguments.part]
        from = "call"
        tool = "sh"
        take = "/part"
        step = "same"
    """
    (pattern,) = parse_pool(text, "mine.toml").patterns
    holes = (("file", Mapper(Source("output", "find", each=True), "path")), ("folder", Mapper(Source("user"), "path")))
    command, part = Filled("cd {folder} && pytest {file} -q", holes), Step(Source("call", "sh"), "/part")
    assert pattern.template == Template("sh", (("command", command), ("part", part)))


def test_combined_pools_keep_their_own_calibration() -> None:
    steps = Calibration(((0.0, 0.0), (1.0, 0.5)))
    pattern = Pattern(Repeat("test"), ({"": Count(4, 4, 4)},), 2, "test#1")
    one, other = Pool((pattern,), {"test": ToolFacts(9, 2.0)}, steps), Pool((pattern,), {"test": ToolFacts(3, 7.0)})
    both = combine([one, other])
    assert [pattern.calibration(0.8) for pattern in both.patterns] == [pytest.approx(0.4), 0.8]
    assert both.tools == {"test": ToolFacts(9, 2.0)}


def test_combined_pools_say_of_how_many_sessions_theirs_are_a_sample() -> None:
    whole, sample = Pool(origin=Origin(sessions=3)), Pool(origin=Origin(sessions=2, sampled_from=10))
    assert combine([whole, sample]).origin.sampled_from == 13
    assert combine([whole, whole]).origin.sampled_from == 0
