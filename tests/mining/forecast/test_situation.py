"""The cues of a moment."""

import pytest

from paste_proxy.events.values import Json
from paste_proxy.mining.forecast.likeness import kinship, last_path, likeness
from paste_proxy.mining.forecast.situation import cues, stems
from paste_proxy.mining.window import Window
from tests.mining.sessions import Script


def seen(script: Script) -> Window:
    window = Window()
    for event in script.events:
        window.step(event)
    return window


def of(kind: str, script: Script) -> list[str]:
    return [cue for cue in cues(seen(script)) if cue.startswith(kind)]


def test_the_calls_since_the_user_spoke_count() -> None:
    script = Script().user("go").call("a", {}, "").user("on").call("b", {}, "").call("c", {}, "")
    assert of("s:", script) == ["s:c", "s:b"]
    assert of("l", script) == ["l:c", "l2:b c"]
    assert of("n:", script) == ["n:2"]
    assert of("n:", script.user("and now")) == ["n:0"]


def test_words_of_the_last_user_message_and_of_the_last_turn_speak() -> None:
    script = Script().user("Cancel it").says("Which flights?").user("the cancelled bookings, please")
    assert of("u:", script) == ["u:cancell", "u:booking"]
    assert of("t:", script) == ["t:flight"]


def test_the_manner_of_the_last_call_speaks() -> None:
    script = Script().call("run", {"command": "git status -s", "mode": "fast", "file": "a/b.py"}, "")
    assert of("v:", script) == ["v:run git", "v:run git status"]
    assert of("w:", script) == ["w:run fast", "w:run a/b.py"]
    assert of("x:", script) == ["x:run .py"]


def test_stems_are_distinct_and_bounded() -> None:
    assert stems("Books booking booked the book", 9) == ("book",)
    assert stems("one two three four", 2) == ("one", "two")


@pytest.mark.parametrize(
    ("value", "like"),
    [
        (True, "bool"),
        (1, "int"),
        (1.0, "float"),
        (None, "NoneType"),
        ({"a": 1}, "dict"),
        (["a.py"], "list of name .py"),
        ([], "list of list"),
        ("https://a.org/x.py", "url"),
        ("two words", "words"),
        ("/a/b.ts", "absolute path .ts"),
        ("a/b", "relative path "),
        ("JFK", "X3"),
    ],
)
def test_a_value_has_a_look(value: Json, like: str) -> None:
    assert likeness(value) == like


@pytest.mark.parametrize(
    ("path", "kin"),
    [
        ("src/api/db.ts", "same"),
        ("src/api/db.test.ts", "twin"),
        ("src/api/routes.ts", "sibling"),
        ("tests/test_db.ts", "namesake"),
        ("src/web/page.ts", "near"),
        ("src/main.ts", "near"),
        ("docs/manual/page.md", "far"),
    ],
)
def test_paths_are_kin_to_the_one_that_was_last(path: str, kin: str) -> None:
    script = Script().call("read", {"path": "src/api/db.ts"}, "").call("run", {"command": "ls -l src/x"}, "")
    assert kinship(path, last_path(seen(script))) == kin
