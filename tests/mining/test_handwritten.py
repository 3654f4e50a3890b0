"""Patterns that people write: what is said of a slip, and that the examples they learn from hold."""

import re

import pytest

from paste_proxy.errors import InputFault
from paste_proxy.events.signature import SHAPES
from paste_proxy.mining.handwritten import read_handwritten
from paste_proxy.mining.predict import Predictor
from paste_proxy.share import share
from tests.mining.sessions import Script

GUIDE = (share("patterns") / "README.md").read_text("utf-8")
TESTS, NEXT_PAGE, RUN_THE_TEST = re.findall(r"```toml\n(.*?)```", GUIDE, re.DOTALL)


def foreseen(text: str, script: Script) -> dict[str, object]:
    predictor = Predictor(read_handwritten(text, "here"))
    predictions = [predictor.step(event) for event in script.events]
    return dict(predictions[-1].candidates[0].invocation.arguments)


def test_the_examples_of_the_guide_predict_what_it_says() -> None:
    paged = Script().user("all of them").call("list", {"page": 2}, {"items": [1]}).user("go on")
    assert foreseen(NEXT_PAGE, paged) == {"page": 3}
    first = Script().user("mend it").call("workbench/edit", {"path": "a.py"}, "done")
    assert foreseen(TESTS, first) == {"command": "make test"}
    again = first.call("workbench/run", {"command": "make test"}, "1 failed")
    assert foreseen(TESTS, again.call("workbench/edit", {"path": "b.py"}, "done")) == {"command": "make test"}
    edited = Script().user('mend "shop"').call("edit", {"path": "test_cart.py"}, "done")
    assert foreseen(RUN_THE_TEST, edited) == {"command": "cd ${HOME}/shop && pytest test_cart.py -q"}


def test_the_guide_names_every_shape_and_key() -> None:
    with pytest.raises(InputFault) as fault:
        read_handwritten("[[pattern]]\nwhat = 1", "here")
    guide = GUIDE.partition("## Writing patterns")[2]
    for word in (*SHAPES, *fault.value.expected.removeprefix("one of ").split(", ")):
        assert f"`{word}`" in guide


@pytest.mark.parametrize("context", ["user > ok list", "user > okay list", "user > list", "list > user"])
def test_in_a_chain_no_answer_without_its_shape_is_offered(context: str) -> None:
    with pytest.raises(InputFault, match="STATUS:SHAPE:TOOL among several") as fault:
        read_handwritten(NEXT_PAGE.replace("ok:object:list > user", context), "here")
    assert "STATUS TOOL" not in fault.value.expected
    assert "ok search" not in fault.value.expected


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('id = "next-page"', "id"),
        ('tool = "list"\nafter', "tool"),
        ("confidence = 0.6", "confidence"),
        (', take = "/page", step = 1', "arguments.page.take"),
    ],
)
def test_what_is_left_out_is_nothing(line: str, key: str) -> None:
    text = NEXT_PAGE.replace(line, "after" if line.endswith("after") else "", 1)
    with pytest.raises(InputFault, match=re.escape(f"here: pattern[0].{key}: nothing; expected")):
        read_handwritten(text, "here")


LONG = "x" * 5_000


@pytest.mark.parametrize(
    "text",
    [
        NEXT_PAGE.replace('"next-page"', f'"{LONG}"') * 2,
        NEXT_PAGE.replace("ok:object:list > user", f"okay {LONG}"),
        NEXT_PAGE.replace("ok:object:list > user", f"user > ok {LONG}"),
        NEXT_PAGE.replace("confidence", LONG),
        NEXT_PAGE.replace("0.6", f'"{LONG}"'),
    ],
)
def test_a_fault_shows_the_beginning_of_what_is_long(text: str) -> None:
    with pytest.raises(InputFault) as fault:
        read_handwritten(text, "here")
    assert LONG[:30] in str(fault.value)
    assert len(fault.value.found) < 100
    assert len(str(fault.value)) < 500


def test_a_list_of_signatures_is_told_how_it_is_written() -> None:
    with pytest.raises(InputFault, match=r"one text such as .*user > ok:text:search"):
        read_handwritten(NEXT_PAGE.replace('"ok:object:list > user"', '["ok list", "user"]'), "here")
