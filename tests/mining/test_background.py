"""The background: it names nothing of a session, and a tool that was seen once is foreseen by it."""

import json

import pytest

from paste_proxy.errors import InputFault
from paste_proxy.events.invocation import Invocation
from paste_proxy.mining.background import NO_BACKGROUND, Background, dump_background, parse_background
from paste_proxy.mining.forecast.training.kinds import holds_anywhere
from paste_proxy.mining.general import general
from paste_proxy.mining.learn_background import learn_background
from paste_proxy.mining.mine import mine, passes
from paste_proxy.mining.window import Window
from tests.mining.sessions import Script, Session

WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "inlet", "jetty", "kayak", "larch")


def reading(at: int, search: str, read: str) -> Session:
    """An agent that searches and then reads the pages in the order of the answer."""
    word = WORDS[at % len(WORDS)]
    pages = [f"https://{word}{part}.org/page" for part in range(3)]
    script = Script(f"{search}-{at}").user(f"Find out all that is known of {word} and sum it up for me, number {at}")
    script.call(search, {"query": f"{word} overview {at}"}, "\n".join(f"result: {page}" for page in pages))
    for page in pages[: 1 + at % 3]:
        script.call(read, {"url": page}, f"a page on {word}")
    return script.says("That is all.").end()


SETS = [[reading(at, f"search_{name}", f"read_{name}") for at in range(16)] for name in ("a", "b", "c")]
BACKGROUND = learn_background(SETS)


def test_it_names_no_tool_and_no_value() -> None:
    text = dump_background(BACKGROUND)
    assert BACKGROUND.next
    assert BACKGROUND.ever
    assert BACKGROUND.marks
    assert all(map(general, [*BACKGROUND.next, *BACKGROUND.ever]))
    assert all(map(holds_anywhere, BACKGROUND.marks))
    assert not [word for word in (*WORDS, "search_", "read_", "https") if word in text]


def test_what_was_written_is_read_back() -> None:
    assert parse_background(dump_background(BACKGROUND), "background.json") == BACKGROUND


def test_the_same_sets_give_the_same_background() -> None:
    assert learn_background(SETS) == BACKGROUND


def test_the_argument_of_a_tool_that_one_task_called_is_known_from_other_tools() -> None:
    def first(background: Background) -> list[Invocation]:
        once = Script("once").user("Tell me what the page of amber says, in a few words please")
        once.call("look_up", {"query": "amber"}, "result: https://amber0.org/page")
        once.call("open_page", {"address": "https://amber0.org/page"}, "a page").says("Done.")
        sessions = [once.end(), *(reading(at, "look_up", "fetch_text") for at in range(1, 6))]
        arguments = mine(sessions, background=background).models[0].finder.arguments
        window = Window()
        for event in reading(7, "look_up", "open_page").events[:4]:
            window.step(event)
        return [one for _, one in arguments.likely("open_page", window, 1)]

    assert first(NO_BACKGROUND) == []
    assert first(BACKGROUND) == [Invocation("open_page", {"address": "https://heron0.org/page"})]


def test_with_many_sessions_it_is_left_behind() -> None:
    strange = Background({"none": 9.0}, {"one": -9.0}, {})
    few, many = (mine([reading(at, "look_up", "open_page") for at in range(n)], background=strange) for n in (4, 40))
    assert few.models[0].next["none"] > many.models[0].next["none"]


def test_few_tasks_are_held_out_a_quarter_at_a_time() -> None:
    assert passes(SETS[0]) == 2 * passes(SETS[0][:1]) * 16
    assert passes([reading(at, "x", "y") for at in range(40)]) == passes(SETS[0][:1]) * 40


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("format", "paste-pool/1"),
        ("next", None),
        ("ever", {"one": "x"}),
        ("marks", {"used#0": True}),
        ("ids", ["a", 1]),
        ("sources", "a"),
    ],
)
def test_a_fault_names_the_key(key: str, value: object) -> None:
    raw = {**json.loads(dump_background(BACKGROUND)), key: value}
    with pytest.raises(InputFault, match=key):
        parse_background(json.dumps(raw), "background.json")


@pytest.mark.parametrize("text", ["", "[]", '{"format": "paste-background/1"'])
def test_what_is_no_background_is_refused(text: str) -> None:
    with pytest.raises(InputFault, match=r"background\.json"):
        parse_background(text, "background.json")


@pytest.mark.parametrize("key", ["format", "next", "sources", "soon"])
def test_what_is_nested_a_thousand_times_is_refused_in_words(key: str) -> None:
    raw = {**json.loads(dump_background(BACKGROUND)), key: "deep"}
    with pytest.raises(InputFault, match=key):
        parse_background(json.dumps(raw).replace('"deep"', "[" * 1_010 + "]" * 1_010), "background.json")


def test_a_source_with_half_a_surrogate_pair_is_written_and_read_back() -> None:
    odd = Background(sources=("cut \ud83d",))
    text = dump_background(odd)
    text.encode()
    assert parse_background(text, "background.json") == odd
