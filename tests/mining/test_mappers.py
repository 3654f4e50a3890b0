"""The mapper algebra: what explains a value gives it back, and what is written reads the same."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paste_proxy.errors import InputFault
from paste_proxy.events.values import Json
from paste_proxy.mining.algebra import AnyMapper
from paste_proxy.mining.dates import dated
from paste_proxy.mining.explain import explain
from paste_proxy.mining.filled import Filled, Filler
from paste_proxy.mining.forms import framed, same, unframed
from paste_proxy.mining.mappers import Constant, Mapper
from paste_proxy.mining.mentions import mentioned
from paste_proxy.mining.notation import read_template, written_template
from paste_proxy.mining.pointers import leaves
from paste_proxy.mining.shapes import shape_of
from paste_proxy.mining.sources import Source
from paste_proxy.mining.steps import Step
from paste_proxy.mining.templates import AnyTemplate, Repeat, Template
from paste_proxy.mining.window import Window
from tests.mining.sessions import Script

KEYS = ["id", "a/b", "*", "k9"]
SCALARS: st.SearchStrategy[Json] = st.integers(-99, 99) | st.sampled_from(
    ["x1", "AB12", "u@a.org", "two words", "Paris"]
)
PAYLOADS: st.SearchStrategy[Json] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=10,
)


def window_of(script: Script) -> Window:
    window = Window()
    for event in script.events:
        window.step(event)
    return window


@settings(max_examples=200, deadline=None)
@given(PAYLOADS)
def test_every_mapper_that_explains_a_value_gives_it(payload: Json) -> None:
    window = window_of(Script("s").user("say AB12 to u@a.org on May 3").call("t", {"q": "x1"}, payload))
    for _, _, value in leaves(payload) if isinstance(payload, dict | list) else []:
        mappers = list(explain(value, window))
        for mapper in mappers:
            many = isinstance(mapper, Mapper) and len(mapper.values(window)) == 10
            assert many or any(same(bound.value, value) for bound in mapper.values(window)), mapper
        assert any(isinstance(mapper, Mapper) for mapper in mappers)


def test_values_that_are_what_they_were_are_the_same_list() -> None:
    mappers = [Mapper(Source("output", "*", each), "word:X4") for each in (False, True)]
    window = window_of(Script("s").call("t", {}, "AB12 and CD34"))
    before = [mapper.values(window) for mapper in mappers]
    for event in Script("s").call("u", {}, "nothing").user("so?").events:
        window.step(event)
    latest, every = (mapper.values(window) for mapper in mappers)
    assert latest == []
    assert every is before[1]
    for event in Script("s").call("t", {}, "EF56").events:
        window.step(event)
    assert [bound.value for bound in mappers[1].values(window)] == ["EF56", "AB12", "CD34"]
    assert len({bound.choices["output *"] for bound in mappers[1].values(window)}) == 2


TEXTS = st.text(min_size=1, max_size=8)
SOURCES = st.builds(Source, st.sampled_from(["user", "turn"]), each=st.booleans()) | st.builds(
    Source, st.sampled_from(["output", "call"]), TEXTS, each=st.booleans()
)
TAKES = st.sampled_from(["/a/*/b", "url", "word:X6", "date"])
FILLERS: st.SearchStrategy[Filler] = st.builds(
    Mapper,
    SOURCES,
    TAKES,
    st.sampled_from(["", "lower", "number", "below:app", "folder:app"]),
    st.sampled_from(["", "[]", "cat {}"]),
    st.booleans(),
) | st.builds(
    lambda source, take, by: Step(replace(source, each=False), take, by), SOURCES, TAKES, st.integers(-999, 999)
)
FILLED = st.dictionaries(st.sampled_from(["a", "file", "x9"]), FILLERS, min_size=1).map(
    lambda holes: Filled("run " + ", ".join(f"{{{name}}}" for name in [*holes, *holes]), tuple(sorted(holes.items())))
)
MAPPERS: st.SearchStrategy[AnyMapper] = st.builds(Constant, PAYLOADS) | FILLERS | FILLED
TEMPLATES: st.SearchStrategy[AnyTemplate] = st.builds(Repeat, TEXTS) | st.builds(
    lambda tool, arguments: Template(tool, tuple(sorted(arguments.items(), key=lambda item: item[0]))),
    TEXTS,
    st.dictionaries(TEXTS, MAPPERS, max_size=3),
)


@given(TEMPLATES)
def test_a_template_reads_as_it_was_written(template: AnyTemplate) -> None:
    assert read_template(written_template(template), "pool") == template


@given(st.sampled_from(["cat src/a.py", "curl https://a.org/x -o y", "git show ab12cd3"]) | st.text(max_size=40))
def test_a_frame_gives_back_the_text_it_was_taken_from(text: str) -> None:
    for frame, value in unframed(text):
        assert framed(frame, value) == text


URL: dict[str, Json] = {"from": "user", "take": "url"}


@pytest.mark.parametrize(
    ("wrong", "key"),
    [
        ({"from": "outputs", "tool": "t", "take": "url"}, "from"),
        ({"from": "output", "take": "url"}, "tool"),
        ({"from": "user", "tool": "t", "take": "url"}, "tool"),
        ({"from": "user", "take": "links"}, "take"),
        ({"from": "user", "take": "url", "which": "all"}, "which"),
        ({"from": "user", "take": "url", "frame": "cat"}, "frame"),
        ({"from": "user", "take": "url", "form": "reverse"}, "form"),
        ({"from": "user", "take": "url", "form": "below:"}, "form"),
        ({"from": "user", "take": "url", "form": "folder:a/b"}, "form"),
        ({"from": "user", "take": "url", "form": ["lower"]}, "form"),
        ({"from": "user", "take": "url", "last": "yes"}, "last"),
        ({"from": "user", "take": "url", "lst": True}, "lst"),
        ({"constant": 1, "take": "url"}, "take"),
        ({"from": "call", "tool": "t", "take": "/n", "step": 0}, "step"),
        ({"from": "call", "tool": "t", "take": "/n", "step": True}, "step"),
        ({"from": "call", "tool": "t", "take": "/n", "step": 10**400}, "step"),
        ({"from": "call", "tool": "t", "take": "/n", "step": "next"}, "step"),
        ({"from": "call", "tool": "t", "take": "/n", "step": 1, "which": "each"}, "which"),
        ({"from": "call", "tool": "t", "take": "/n", "step": 1, "frame": "p{}"}, "frame"),
        ({"from": "call", "take": "/n", "step": 1}, "tool"),
        ({"from": "call", "tool": "t", "step": 1}, "take"),
        ({"text": "run {a}", "holes": {"a": URL}, "take": "url"}, "take"),
        ({"text": "run {a}"}, "holes"),
        ({"text": "run {a}", "holes": {}}, "holes"),
        ({"text": "run {a}", "holes": [URL]}, "holes"),
        ({"text": "run {a}", "holes": {f"h{at}": URL for at in range(3_000)}}, "holes"),
        ({"text": "run {a}", "holes": {"a": {"constant": 1}}}, r"holes\.a\.constant"),
        ({"text": "run {a}", "holes": {"a": {"text": "{b}!", "holes": {"b": URL}}}}, r"holes\.a\.text"),
        ({"text": "run {a}", "holes": {"a": {"from": "user", "take": "links"}}}, r"holes\.a\.take"),
        ({"text": 7, "holes": {"a": URL}}, "text"),
        ({"text": "run", "holes": {"a": URL}}, "text"),
        ({"text": "run {a}", "holes": {"a": URL, "b": URL}}, "text"),
        ({"text": "run {a}{b}", "holes": {"a": URL, "b": URL}}, "text"),
        ({"text": " {a} {b}", "holes": {"a": URL, "b": URL}}, "text"),
        ({"text": "{a}", "holes": {"a": URL}}, "text"),
        ({"text": "run " + "{a} " * 17, "holes": {"a": URL}}, "text"),
        ({"text": "run {a}" + "x" * 1_000, "holes": {"a": URL}}, "text"),
    ],
)
def test_a_wrong_mapper_is_named_by_its_key(wrong: dict[str, Json], key: str) -> None:
    with pytest.raises(InputFault, match=rf"pool\.arguments\.url\.{key}"):
        read_template({"tool": "t", "arguments": {"url": wrong}}, "pool")


@pytest.mark.parametrize(
    ("word", "shape"),
    [
        ("mia_li_3668", "a_a_9"),
        ("H8Q05L", "X6"),
        ("HXDUBJ", "X6"),
        ("JFK", "X3"),
        ("2024-05-20", "9-9-9"),
        ("a1b", "x"),
    ],
)
def test_the_shape_of_a_word(word: str, shape: str) -> None:
    assert shape_of(word) == shape


def test_what_a_text_mentions() -> None:
    text = 'On May 20th or 21 June 2023: see https://a.org/x_(y)). Open src/a.py:12 and "the plan" for $30.5.'
    assert mentioned("url", text) == ["https://a.org/x_(y)"]
    assert "src/a.py" in mentioned("path", text)
    assert [dated(date, "2024") for date in mentioned("date", text)] == ["2024-05-20", "2023-06-21"]
    assert mentioned("quoted", text) == ["the plan"]
    assert "30.5" in mentioned("number", text)


@pytest.mark.parametrize(
    "text", ["a" * 20_000, "+/" * 10_000, "a." * 10_000, "A " * 10_000, "'" * 20_000, "1-" * 10_000]
)
def test_looking_for_mentions_stays_quick_on_hostile_text(text: str) -> None:
    for kind in ("url", "path", "date", "number", "quoted", "name"):
        assert len(mentioned(kind, text)) <= 60
