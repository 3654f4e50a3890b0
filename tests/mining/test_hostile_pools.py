"""A pool that somebody wrote, cut or broke: refused with its place, or of use."""

import json
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paste_proxy.errors import InputFault
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.outline import Outline
from paste_proxy.events.result import Status
from paste_proxy.events.types import ToolCall, ToolOutput, UserMessage
from paste_proxy.mining.estimate import Count
from paste_proxy.mining.forecast.measures import MEASURES
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
            "arguments": {
                "url": {**FROM_OUTPUT, "frame": "x{}"},
                "n": {"constant": 3},
                "page": {"from": "call", "tool": "search", "take": "/n", "step": 1},
                "text": {"text": "get {a} and {b}", "holes": {"a": FROM_OUTPUT, "b": {"from": "user", "take": "url"}}},
            },
            "groups": 2,
            "ranks": [{"": [4, 2, 3], "ok search": [2, 1, 1]}],
        },
        {"id": "q", "tool": "search", "repeat": True, "ranks": [{"": [4, 2, 3]}]},
    ],
    "model": {
        "choice": {"bias": {"": 0.1, "fetch": 0.5, "=0": 0.2}, "cues": {"c:": {"fetch": 1.0}, "n:1": {"=0": 2.0}}},
        "frequent": [{"tool": "search", "arguments": {"q": "x"}}],
        "shapes": {
            "fetch": [{"names": ["url"], "share": 0.9, "covered": 0.5}, {"names": [], "share": 0.1, "covered": 1.0}],
        },
        "slots": [
            {
                "tool": "fetch",
                "name": "url",
                "mappers": [
                    {**FROM_OUTPUT, "weights": {"0": 1.0, "0@ok search": 0.5, "only": 0.1}},
                    {"text": "{u}{{u}}", "holes": {"u": FROM_OUTPUT}, "weights": {}},
                ],
                "constants": [["http://a", 0.5], [{"deep": [1]}, 0.1]],
                "phrases": {"look": "http://a", "at": 1.5},
                "enumerated": True,
                "covered": 0.8,
                "weights": {"used#never": 0.5, "http://a&look": 1.0},
            }
        ],
        "next": {"one": 0.5, "argued": 1.0, "none": 0.2},
        "ever": {"one": 0.5, "P:p": 1.0},
        "calibration": [[0.1, 0.2]],
        "soon": {
            "means": dict.fromkeys(MEASURES, 0.5),
            "spreads": dict.fromkeys(MEASURES, 0.1),
            "inner": {name: [0.1, -0.2] for name in MEASURES},
            "shifts": [0.0, 0.1],
            "outer": [1.0, -1.0],
        },
    },
}


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


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
    "\ufeff=7",
    1e300,
    5e-324,
    deep(90),
    deep(200),
    deep(800),
]


def places(value: object, here: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, one in inner for place in [(*here, key), *places(one, (*here, key))]]


PLACES = places(POOL)
DROPPED = "the key is not there"


def use(pool: Pool) -> None:
    """All that a sidecar does with a pool."""
    dump_pool(pool).encode()
    predictor = Predictor(pool)
    call = Invocation("search", {"q": "x", "n": 2})
    output: Any = {"results": [{"url": "http://a"}, {"url": "B"}]}
    predictor.step(UserMessage(session="s", ts=0.0, text="look at http://a.b/c"))
    predictor.step(ToolCall(session="s", ts=0.0, call_id="1", invocation=call))
    predictor.step(ToolOutput(session="s", ts=0.0, call_id="1", tool="search", output=output, status=Status.OK))
    predictor.narrow(Outline("fetch", {}))


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
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


WRONG = [
    ("model", []),
    ("model.choice", None),
    ("model.choice.bias", DROPPED),
    ("model.choice.bias", {"fetch": "much"}),
    ("model.choice.bias['fetch']", 1e9),
    ("model.choice.cues", DROPPED),
    ("model.choice.cues['c:']", {"unknown": 1.0}),
    ("model.choice.cues['c:']", {"=1": 1.0}),
    ("model.choice.cues['n:1']['=0']", None),
    ("model.frequent", DROPPED),
    ("model.frequent[0].tool", 7),
    ("model.frequent[0].arguments", [1]),
    ("model.frequent[0].arguments", {"q": deep(300)}),
    ("model.shapes", 3),
    ("model.shapes.fetch", {}),
    ("model.shapes.fetch", [{"names": ["url", "to"], "share": 0.9, "covered": 0.5}]),
    ("model.shapes.fetch.names", "url"),
    ("model.shapes.fetch.share", 1.5),
    ("model.shapes.fetch.covered", DROPPED),
    ("model.slots", DROPPED),
    ("model.slots", []),
    ("model.slots[0].tool", DROPPED),
    ("model.slots[0].name", 1),
    ("model.slots[0].mappers", DROPPED),
    ("model.slots[0].mappers[0]", {"constant": 1, "weights": {}}),
    ("model.slots[0].mappers[0].weights", DROPPED),
    ("model.slots[0].mappers[0].take", "nonsense"),
    ("model.slots[0].constants[0]", ["x"]),
    ("model.slots[0].constants[0]", ["x", -1]),
    ("model.slots[0].constants[1]", [deep(300), 0.1]),
    ("model.slots[0].phrases", []),
    ("model.slots[0].phrases['at']", deep(300)),
    ("model.slots[0].enumerated", 1),
    ("model.slots[0].covered", True),
    ("model.slots[0].weights", DROPPED),
    ("model.slots[0].weights['used#never']", 10**400),
    ("model.next", DROPPED),
    ("model.ever['one']", "1"),
    ("model.calibration", [[0.5]]),
    ("model.soon", [1]),
    ("model.soon.means", DROPPED),
    ("model.soon.means['age']", True),
    ("model.soon.spreads['age']", DROPPED),
    ("model.soon.spreads['height']", 1.0),
    ("model.soon.inner['age']", [1.0]),
    ("model.soon.shifts", [1.0, 2.0, 3.0]),
    ("model.soon.outer", []),
    ("model.soon.outer[1]", 1e300),
]


def steps(place: str) -> list[str | int]:
    """The keys on the way to a place as faults name it; a shape is named by its tool, so the first is meant."""
    found: list[str | int] = []
    for key, at, quoted in re.findall(r"(\w+)|\[(\d+)\]|\['(.*?)'\]", place.replace("fetch.", "fetch[0]."), re.ASCII):
        found.append(int(at) if at else key or quoted)
    return found


@pytest.mark.parametrize(("place", "becomes"), WRONG, ids=[f"{place}-{str(to)[:20]}" for place, to in WRONG])
def test_a_wrong_key_of_a_model_is_named(place: str, becomes: Any) -> None:
    pool = json.loads(json.dumps(POOL))
    table, (*way, last) = pool, steps(place)
    for key in way:
        table = table[key]
    if becomes == DROPPED:
        del table[last]
    else:
        table[last] = becomes
    with pytest.raises(InputFault) as fault:
        load_pool(json.dumps(pool), "pool.json")
    named = "model.shapes.fetch" if place == "model.slots" and becomes == [] else place
    assert fault.value.where.startswith(f"pool.json: {named}")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "1" * 5_000])
def test_a_weight_that_is_no_finite_number_is_refused(number: str) -> None:
    text = json.dumps(POOL).replace('"argued": 1.0', f'"argued": {number}')
    assert number in text
    with pytest.raises(InputFault, match=r"pool\.json"):
        load_pool(text, "pool.json")


@pytest.mark.parametrize("levels", [200, 600, 950, 1_020, 1_500])
@pytest.mark.parametrize("key", ["model", "patterns", "tools", "mined", "calibration", "format"])
def test_nesting_of_any_depth_is_refused_with_its_file(key: str, levels: int) -> None:
    text = json.dumps({**POOL, key: "HERE"}).replace('"HERE"', "[" * levels + "]" * levels)
    with pytest.raises(InputFault, match=r"pool\.json"):
        load_pool(text, "pool.json")


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
