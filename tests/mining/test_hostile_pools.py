"""A pool that somebody wrote, cut or broke: refused with its place, or of use."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paste_proxy.errors import InputFault
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status
from paste_proxy.events.types import ToolCall, ToolOutput, UserMessage
from paste_proxy.mining.estimate import Count
from paste_proxy.mining.mappers import Constant
from paste_proxy.mining.pattern import Pattern, pattern_id
from paste_proxy.mining.pool import Pool
from paste_proxy.mining.predict import Predictor
from paste_proxy.mining.storage import dump_pool, load_pool, parse_pool
from paste_proxy.mining.templates import Template

FROM_OUTPUT = {"from": "output", "tool": "search", "take": "/results/*/url", "which": "each", "form": "lower"}
POOL: dict[str, Any] = {
    "format": "paste-proxy patterns",
    "version": 1,
    "mined": {"sessions": 1, "groups": 1, "calls": 2, "sources": ["a"]},
    "tools": {"search": {"calls": 2, "median_s": 1.0}},
    "calibration": [[0.1, 0.2], [0.5, 0.6]],
    "patterns": [
        {
            "id": "p",
            "tool": "fetch",
            "arguments": {"url": {**FROM_OUTPUT, "frame": "x{}"}, "n": {"constant": 3}},
            "groups": 2,
            "ranks": [{"": [4, 2, 3], "ok search": [2, 1, 1]}],
        },
        {"id": "q", "tool": "search", "repeat": True, "ranks": [{"": [4, 2, 3]}]},
    ],
}
ODD: list[Any] = [
    None,
    True,
    0,
    -1,
    1.5,
    10**400,
    "",
    "\ud800",
    "x" * 3_000,
    "*",
    "/../..",
    [],
    [[]],
    {},
    {"": {}},
    ["a", 1],
]


def places(value: object, here: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, one in inner for place in [(*here, key), *places(one, (*here, key))]]


PLACES = places(POOL)


def use(pool: Pool) -> None:
    """All that a sidecar does with a pool."""
    dump_pool(pool).encode()
    predictor = Predictor(pool)
    call = Invocation("search", {"q": "x"})
    output: Any = {"results": [{"url": "http://a"}, {"url": "B"}]}
    predictor.step(UserMessage(session="s", ts=0.0, text="look at http://a.b/c"))
    predictor.step(ToolCall(session="s", ts=0.0, call_id="1", invocation=call))
    predictor.step(ToolOutput(session="s", ts=0.0, call_id="1", tool="search", output=output, status=Status.OK))


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(place=st.sampled_from(PLACES), odd=st.sampled_from(ODD), drop=st.booleans())
def test_a_pool_with_an_odd_value_is_refused_with_its_place_or_of_use(
    place: tuple[str | int, ...], odd: object, drop: bool
) -> None:
    pool = json.loads(json.dumps(POOL))
    table = pool
    for key in place[:-1]:
        table = table[key]
    if drop:
        del table[place[-1]]
    else:
        table[place[-1]] = odd
    where = "pool.json"
    try:
        use(load_pool(json.dumps(pool), "pool.json"))
    except InputFault as fault:
        where = fault.where
        str(fault).encode()
    assert where.startswith("pool.json")


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(at=st.integers(0, len(json.dumps(POOL)) - 1), put=st.sampled_from(["", "]", "}", '"', ",", "\0"]))
def test_a_cut_or_damaged_pool_is_refused_with_its_place_or_of_use(at: int, put: str) -> None:
    text = json.dumps(POOL)
    for broken in (text[:at], text[:at] + put + text[at:]):
        where = "pool.json"
        try:
            use(load_pool(broken, "pool.json"))
        except InputFault as fault:
            where = fault.where
        assert where.startswith("pool.json")


@pytest.mark.parametrize("text", ["[" * 50_000, '{"a":' * 50_000, "x = " + "[" * 50_000])
@pytest.mark.parametrize("name", ["pool.json", "pool.toml"])
def test_deep_nesting_is_refused(text: str, name: str) -> None:
    with pytest.raises(InputFault, match=name):
        parse_pool(text, name)


@pytest.mark.parametrize("value", ["2020-01-01", "nan", "[inf]", "{ at = 10:00:00 }"])
def test_a_constant_that_no_tool_can_be_called_with_is_refused(value: str) -> None:
    text = f'[[pattern]]\nid = "a"\ntool = "t"\nconfidence = 0.5\narguments.d = {{ constant = {value} }}\n'
    with pytest.raises(InputFault, match=r"mine\.toml: pattern\[0\]\.arguments\.d\.constant"):
        parse_pool(text, "mine.toml")


def test_half_a_surrogate_pair_in_a_pattern_survives_the_file() -> None:
    template = Template("t", (("q", Constant("a\ud83d")),))
    pool = Pool((Pattern(template, ({"": Count(4, 4, 4)},), 2, pattern_id("a\ud83d", "t")),))
    assert load_pool(dump_pool(pool).encode().decode(), "pool.json").patterns == pool.patterns
