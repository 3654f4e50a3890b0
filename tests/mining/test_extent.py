"""However long what a session says, asks for and is answered, looking at it costs little, and no more is foreseen of it
than that it happened."""

from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.outline import Outline
from paste_proxy.events.types import ToolCall
from paste_proxy.events.values import Json
from paste_proxy.mining.extent import LONGEST_CALL, LONGEST_VALUE, exceeds, is_long
from paste_proxy.mining.forecast.adaptation import Adaptation, Place
from paste_proxy.mining.infer import Explained
from paste_proxy.mining.mappers import Mapper
from paste_proxy.mining.mine import mine
from paste_proxy.mining.pool import Pool
from paste_proxy.mining.predict import Predictor
from paste_proxy.mining.sources import Source
from paste_proxy.mining.storage import dump_pool
from paste_proxy.mining.window import Window
from tests.mining.sessions import Script, Session
from tests.mining.worlds import JSON, POOL

LONG = [
    "/" + "a/" * LONGEST_CALL,
    "/home/ann/" + "a" * LONGEST_CALL,
    "a." * LONGEST_CALL,
    "/home/ann/app/src/rules.py " * LONGEST_CALL,
    "https://a.org/" + "x/" * LONGEST_CALL,
]


def size(value: Json) -> int:
    """By force: characters and keys, one for each item, and one for whatever else there is."""
    match value:
        case str():
            return len(value)
        case dict():
            return sum(len(key) + 1 + size(inner) for key, inner in value.items())
        case list():
            return sum(1 + size(inner) for inner in value)
        case _:
            return 1


@given(JSON, st.integers(0, 30))
def test_it_is_counted_as_by_force(value: Json, most: int) -> None:
    assert exceeds(value, most) is (size(value) > most)


def test_it_is_not_counted_beyond_what_is_asked() -> None:
    class Endless(list[Json]):
        def __len__(self) -> int:
            return 10**9

        def __iter__(self) -> Iterator[Json]:
            raise AssertionError

    assert exceeds(Endless(), 100)


def reading(name: str, path: str) -> Session:
    script = Script(name).user(f"read what {name} wrote").call("read", {"path": f"/home/{name}/app/notes.md"}, "fine")
    return script.call("read", {"path": path}, "see src/rules.py").call("read", {"path": "/home/x/app/a.py"}, "").end()


@pytest.mark.parametrize("long", LONG)
@pytest.mark.parametrize("put", [lambda long: long, lambda long: [{"deep": long}]])
def test_a_long_call_is_known_by_its_tool_alone(long: str, put: Callable[[str], Json]) -> None:
    window = Window()
    for event in Script().user("go").call("read", {"path": "/home/ann/app/b.py", "text": put(long)}, "fine").events:
        window.step(event)
    (call,) = [seen for seen in window.observations if seen.kind == "call"]
    assert (call.tool, call.invocation, call.asked, call.signature) == ("read", None, None, "ok:line:read")
    assert window.asked() == frozenset()
    assert window.bearings.lost


@pytest.mark.parametrize("long", LONG)
def test_nothing_that_is_foreseen_is_made_of_it(long: str) -> None:
    predictor = Predictor(POOL, adaptation=Adaptation(POOL, [Place.fresh()]))
    script = reading("ann", long).events
    for event in script:
        for one in predictor.step(event).candidates:
            assert not is_long(one.invocation)
            assert not exceeds(one.invocation.arguments, 2 * LONGEST_VALUE)
        predictor.look_ahead()
    assert predictor.narrow(Outline("read", {"path": long})).candidates == ()


def test_a_long_value_of_an_answer_is_no_argument() -> None:
    window = Window()
    output: Json = {"rows": ["x" * LONGEST_VALUE, "x" * (LONGEST_VALUE + 1), ["y" * LONGEST_VALUE] * 2, "z"]}
    for event in Script().user("go").call("list", {}, output).events:
        window.step(event)
    taken = [bound.value for bound in Mapper(Source("output", "list"), "/rows/*").values(window)]
    assert taken == ["x" * LONGEST_VALUE, "z"]


@pytest.mark.parametrize("long", LONG)
def test_mining_learns_nothing_of_it(long: str) -> None:
    sessions = [reading(name, long) for name in ("ann", "bob", "cyd", "dan", "eve", "fay")]
    explained = Explained.of(sessions, [one.id for one in sessions])
    assert sum(map(len, explained.occurrences.values())) == 2 * len(sessions)
    text = dump_pool(mine(sessions))
    assert len(text) < LONGEST_CALL
    assert '"read"' in text


def test_who_learns_habits_is_not_asked_about_it() -> None:
    asked: list[Invocation] = []

    def harmless(invocation: Invocation) -> bool:
        asked.append(invocation)
        return True

    place = Place.fresh()
    predictor = Predictor(Pool(), adaptation=Adaptation(Pool(), [place], harmless=harmless))
    for event in reading("ann", LONG[0]).events:
        predictor.step(event)
    paths = ["/home/ann/app/notes.md", "/home/x/app/a.py"]
    assert [one.arguments["path"] for one in asked] == paths
    assert [one.invocation.arguments["path"] for one in place.habits.known.values()] == paths


def test_the_event_stays_whole() -> None:
    event = next(one for one in reading("ann", LONG[0]).events if isinstance(one, ToolCall) and is_long(one.invocation))
    Predictor(POOL).step(event)
    assert event.invocation.arguments["path"] == LONG[0]
