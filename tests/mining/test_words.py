"""Contexts, mappers and traits in words; whatever is not known is shown as it is written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.events.signature import SHAPES
from paste_proxy.events.values import Json, canonical_text
from paste_proxy.mining.forms import FORMS
from paste_proxy.mining.material import FILE
from paste_proxy.mining.mentions import KINDS
from paste_proxy.mining.words import context_in_words, mapper_in_words, shortened, trait_in_words


@pytest.mark.parametrize(
    ("context", "words"),
    [
        ("", "at any moment"),
        ("^ > user", "after the session began, then the user spoke"),
        ("llm", "after the model spoke and called nothing"),
        ("ok search", "after search answered"),
        ("error fs/read", "after fs/read failed"),
        ("ok:list.few:search > user", "after search answered a list of up to 9, then the user spoke"),
        ("error:line:a:b", "after a:b failed"),
        ("ok:odd:search", "after search answered odd"),
        ("what", "after what"),
    ],
)
def test_a_context_in_words(context: str, words: str) -> None:
    assert context_in_words(context) == words


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ({"constant": [1]}, "always [1]"),
        ({"from": "user", "take": "url"}, "a link of the latest words of the user"),
        (
            {"from": "output", "tool": "search", "which": "each", "take": "/results/*/url"},
            "what stands at /results/*/url of any answer of search",
        ),
        (
            {"from": "call", "tool": "*", "take": "word:X3", "last": True, "form": "lower"},
            "the last: a word of the shape X3, of the latest arguments that any tool was called with, in lower case",
        ),
        (
            {"from": "turn", "take": "after:id", "frame": "cat {}"},
            "what stands after 'id' of the latest words of the model, set into \"cat {}\"",
        ),
        ({"from": "user", "take": "name", "frame": "[]"}, "a name of the latest words of the user, in a list of one"),
        (
            {"from": "call", "tool": "list", "take": "/page", "step": 1},
            "1 more than what stands at /page of the latest arguments that list was called with",
        ),
        (
            {"text": "cd {a}", "holes": {"a": {"from": "user", "take": "path"}}},
            'the text "cd {a}", a: a path of the latest words of the user',
        ),
        ({"from": "afar", "take": "odd"}, "odd of afar"),
    ],
)
def test_a_mapper_in_words(written: dict[str, Json], words: str) -> None:
    assert mapper_in_words(written) == words


def test_a_constant_among_others_is_a_usual_value() -> None:
    assert mapper_in_words({"constant": "a"}, alone=False) == 'a usual value, "a"'


@pytest.mark.parametrize(
    ("trait", "words"),
    [
        ("repeat", "the session has asked for it before"),
        ("age:0", "asked for before: the last call"),
        ("R:fs/read:5", "fs/read asked for the same before: 16 calls ago or more"),
        ("after:ok search>visit", "visit again after search answered"),
        ("nth:user>look:2", "place 3 among earlier calls of look, after the user spoke"),
        ("touch:read>edit:0", "an argument of edit stood in a call of read: the last call"),
        ("nth:look:0", "place 1 among earlier calls of look"),
        ("rank:0", "place 1 among the likely arguments"),
        ("rank:6", "place 7 or later among the likely arguments"),
        ("following:1", "place 2 among what is next in the list"),
        ("votes:1", "1 pattern gives it"),
        ("times:1", "asked for once before"),
        ("unargued", "its arguments are not among the likely ones of its tool"),
        ("T:a{b}", "calls of a{b} as such"),
        ("never heard of", "never heard of"),
    ],
)
def test_a_trait_in_words(trait: str, words: str) -> None:
    assert trait_in_words(trait) == words


@given(st.text(), st.integers(10, 100))
def test_what_is_shortened_is_never_longer_and_keeps_both_ends(text: str, longest: int) -> None:
    whole, short = canonical_text(text), shortened(text, longest)
    assert len(short) <= longest
    assert whole.startswith(short.partition("...")[0])
    assert whole.endswith(short.rpartition("...")[2])


@given(st.text())
def test_anything_can_be_put_in_words(text: str) -> None:
    assert context_in_words(text).startswith(("after ", "at any moment"))
    assert trait_in_words(text) or not text


def test_every_shape_kind_and_form_has_words() -> None:
    for shape in SHAPES:
        assert context_in_words(f"ok:{shape}:t") != f"after t answered {shape}"
    for take in (*KINDS, FILE):
        assert not mapper_in_words({"from": "user", "take": take}).startswith(f"{take} ")
    for form in filter(None, FORMS):
        assert not mapper_in_words({"from": "user", "take": "url", "form": form}).endswith(f", {form}")
