"""Which files are in sight, and how they stand there."""

from hypothesis import given, settings

from paste_proxy.events.types import Event
from paste_proxy.mining.bearings import Bearings
from paste_proxy.mining.forecast.sight import Sighting, in_sight
from paste_proxy.mining.window import CALL, TURN, USER, Window
from tests.mining.sessions import Script
from tests.mining.worlds import recorded

PLAN = "Change src/a.py, then src/b.py, then src/c.py."


def seen(script: Script, known: Bearings | None = None) -> dict[str, Sighting]:
    window = Window()
    for event in script.events:
        window.step(event)
    return in_sight(window, known or Bearings())


def test_of_a_plan_it_is_told_what_has_not_been_asked_for_yet() -> None:
    script = Script().user(PLAN).call("read", {"path": "/home/ann/app/src/a.py"}, "nothing")
    found = seen(script)
    assert [path.rpartition("/")[2] for path in found] == ["a.py", "b.py", "c.py"]
    assert [one.unread for one in found.values()] == [0, 0, 1]
    assert [one.order for one in found.values()] == [0, 1, 2]
    assert [one.after for one in found.values()] == [False, True, False]
    assert {(one.kind, one.tool, one.beside, one.age) for one in found.values()} == {(USER, "", 3, 1)}


def test_a_file_counts_where_it_was_named_last() -> None:
    hits = "src/c.py: a hit\nsrc/d.py: one more"
    script = Script().user(PLAN).call("grep", {"path": "/home/ann/app/src/main.py"}, hits)
    script.says("Next is src/d.py.")
    found = {path.rpartition("/")[2]: one for path, one in seen(script).items()}
    assert list(found) == ["d.py", "c.py", "a.py", "b.py"]
    assert [(one.kind, one.tool, one.mentions) for one in found.values()] == [
        (TURN, "", 2),
        (CALL, "grep", 2),
        (USER, "", 1),
        (USER, "", 1),
    ]


def test_before_the_session_has_named_a_folder_paths_are_read_against_known_ones() -> None:
    known = Bearings()
    known.visit(["/home/ann/app/src/x.py"])
    assert list(seen(Script().user(PLAN), known)) == [f"/home/ann/app/src/{name}.py" for name in "abc"]
    assert seen(Script().user(PLAN)) == {}
    elsewhere = Script().call("read", {"path": "/home/bob/lib/src/x.py"}, "").user(PLAN)
    assert list(seen(elsewhere, known)) == [f"/home/bob/lib/src/{name}.py" for name in "abc"]


def test_an_absolute_path_needs_no_folder() -> None:
    assert list(seen(Script().user("look at /srv/data/x.csv"))) == ["/srv/data/x.csv"]


def test_as_many_as_are_looked_at_are_bounded() -> None:
    script = Script()
    for page in range(10):
        script.call("list", {}, "\n".join(f"/srv/{page}/{at}.txt" for at in range(50)))
    found = seen(script)
    assert len(found) == 48
    assert next(iter(found)) == "/srv/9/0.txt"


@settings(max_examples=60, deadline=None)
@given(recorded())
def test_places_in_a_list_agree(events: list[Event]) -> None:
    window, known = Window(), Bearings()
    known.visit(["/home/ann/app/src/x.py"])
    for event in events:
        window.step(event)
        for path, one in in_sight(window, known).items():
            assert path.startswith("/")
            assert 0 <= one.unread <= one.order < one.beside
            assert 1 <= one.mentions <= len(window.observations) - one.age
