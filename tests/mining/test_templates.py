"""Binding templates: arguments agree on the event and the row they come from."""

from paste_proxy.events.invocation import Invocation
from paste_proxy.mining.mappers import Constant, Mapper
from paste_proxy.mining.sources import Source
from paste_proxy.mining.templates import Repeat, Template
from paste_proxy.mining.window import Window
from tests.mining.sessions import Script

TRIPS = Source("output", "trips", each=True)


def window_of(script: Script, size: int = 64) -> Window:
    window = Window(size)
    for event in script.events:
        window.step(event)
    return window


def test_arguments_from_one_event_come_from_one_row_of_it() -> None:
    script = Script().call("trips", {"n": 1}, {"trips": [{"from": "A", "to": "B"}]})
    script.call("trips", {"n": 2}, {"trips": [{"from": "C", "to": "D"}, {"from": "E", "to": "F"}]})
    template = Template("find", (("end", Mapper(TRIPS, "/trips/*/to")), ("start", Mapper(TRIPS, "/trips/*/from"))))
    bound = [(call.arguments["start"], call.arguments["end"]) for call in template.bind(window_of(script))]
    assert bound == [("C", "D"), ("E", "F"), ("A", "B")]


def test_arguments_from_different_events_combine_freely() -> None:
    script = Script().user("on May 3 or 4 May 2024").call("trips", {}, {"trips": [{"to": "X"}, {"to": "Y"}]})
    template = Template("find", (("day", Mapper(Source("user"), "date")), ("end", Mapper(TRIPS, "/trips/*/to"))))
    bound = [(call.arguments["day"], call.arguments["end"]) for call in template.bind(window_of(script))]
    assert bound == [(day, end) for day in ("2024-05-03", "2024-05-04") for end in "XY"]


def test_a_template_with_an_argument_nobody_knows_gives_nothing() -> None:
    template = Template("find", (("day", Mapper(Source("user"), "date")), ("n", Constant(1))))
    assert not list(template.bind(window_of(Script().user("some day"))))


def test_an_output_that_failed_is_no_source_but_its_arguments_are() -> None:
    window = window_of(Script().call("get", {"id": "K9"}, {"id": "K9"}, ok=False))
    assert not list(Template("t", (("id", Mapper(Source("output", "get"), "/id")),)).bind(window))
    bound = list(Template("t", (("id", Mapper(Source("call", "get"), "/id")),)).bind(window))
    assert bound == [Invocation("t", {"id": "K9"})]


def test_a_repeat_gives_the_latest_call_first_and_each_once() -> None:
    script = Script()
    for name in ("a", "b", "a", "c"):
        script.call("get", {"id": name}, 1)
    bound = [call.arguments["id"] for call in Repeat("get").bind(window_of(script))]
    assert bound == ["c", "a", "b"]


def test_what_left_the_window_is_forgotten() -> None:
    script = Script()
    for name in ("a", "b", "c"):
        script.call("get", {"id": name}, 1)
    bound = [call.arguments["id"] for call in Repeat("get").bind(window_of(script, size=2))]
    assert bound == ["c", "b"]


def test_outputs_find_their_calls_by_id_when_they_come_in_another_order() -> None:
    script = Script().batch([("get", {"id": "a"}, {"v": "A1"}), ("get", {"id": "b"}, {"v": "B2"})])
    calls, outputs = script.events[:2], script.events[2:]
    script.events = [*calls, *reversed(outputs)]
    window = window_of(script)
    said = [(seen.invocation, seen.said and seen.said.payload) for seen in window.observations]
    assert said == [(Invocation("get", {"id": "a"}), {"v": "A1"}), (Invocation("get", {"id": "b"}), {"v": "B2"})]
