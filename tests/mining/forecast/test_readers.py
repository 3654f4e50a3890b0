"""Which tools read files, told by what a session asked of them."""

import pytest

from paste_proxy.events.values import Json
from paste_proxy.mining.forecast.readers import readers
from paste_proxy.mining.window import Window
from tests.mining.sessions import Script


def told(script: Script) -> dict[str, str]:
    window = Window()
    for event in script.events:
        window.step(event)
    return dict(readers(window))


def test_a_tool_that_was_asked_for_a_path_alone_reads_files() -> None:
    script = Script().call("show", {"file": "/app/a.py"}, "").call("edit", {"path": "/app/a.py", "text": "b"}, "")
    assert told(script.call("server/cat", {"name": "/app"}, "")) == {"server/cat": "name", "show": "file"}


@pytest.mark.parametrize(
    "value", ["a.py", "src/a.py", "https://a.org/b", "/", "/a b", "/a\nb", "/" + "a" * 300, 7, ["/a"]]
)
def test_what_is_no_absolute_path_tells_nothing(value: Json) -> None:
    assert told(Script().call("show", {"file": value}, "")) == {}


def test_the_latest_argument_counts_and_a_call_without_a_path_takes_nothing_back() -> None:
    script = Script().call("show", {"file": "/a"}, "").call("show", {"path": "/b"}, "").call("show", {"id": 7}, "")
    assert told(script) == {"show": "path"}


def test_those_asked_last_are_told() -> None:
    script = Script()
    for at in range(9):
        script.call(f"t{at}", {"path": "/a"}, "")
    assert list(told(script)) == ["t8", "t7", "t6", "t5"]


def test_it_is_told_anew_after_each_call() -> None:
    window = Window()
    for event in Script().call("show", {"file": "/a"}, "").events:
        window.step(event)
    assert readers(window) == {"show": "file"}
    for event in Script().call("cat", {"name": "/a"}, "").events:
        window.step(event)
    assert list(readers(window)) == ["cat", "show"]
