"""What a call that is being written may come to be, by its name and the arguments known of it."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from paste_proxy.events.candidate import NARROWED
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.outline import Outline
from paste_proxy.mining.completions import completions, shares
from paste_proxy.mining.estimate import Count
from paste_proxy.mining.mappers import Constant, Mapper
from paste_proxy.mining.outlook import Expected
from paste_proxy.mining.pattern import Pattern
from paste_proxy.mining.pool import Pool
from paste_proxy.mining.predict import Predictor
from paste_proxy.mining.sources import Source
from paste_proxy.mining.templates import AnyTemplate, Repeat, Template
from paste_proxy.mining.window import Window
from tests.mining.sessions import Script

TRIPS = Source("output", "trips", each=True)
FIND = Template("find", (("end", Mapper(TRIPS, "/trips/*/to")), ("start", Mapper(TRIPS, "/trips/*/from"))))
ROWS: list[Any] = [{"from": "A", "to": "B"}, {"from": "C", "to": "D"}, {"from": "C", "to": "E"}]


def window_of(script: Script) -> Window:
    window = Window()
    for event in script.events:
        window.step(event)
    return window


def trips() -> Script:
    return Script().call("trips", {}, {"trips": ROWS})


def completed(template: AnyTemplate, window: Window, tool: str = "find", **known: Any) -> list[Any]:
    return [
        (rank, invocation.arguments) for rank, invocation in completions(template, window, Outline(tool, dict(known)))
    ]


def test_of_a_name_alone_every_binding_is_a_completion() -> None:
    bound = [{"start": row["from"], "end": row["to"]} for row in ROWS]
    assert completed(FIND, window_of(trips())) == list(enumerate(bound))


def test_a_known_argument_leaves_the_bindings_that_have_it() -> None:
    assert completed(FIND, window_of(trips()), start="C") == [
        (1, {"start": "C", "end": "D"}),
        (2, {"start": "C", "end": "E"}),
    ]


def test_a_value_that_the_mapper_did_not_find_stands_in_for_it() -> None:
    ends = [(None, {"start": "Z", "end": row["to"]}) for row in ROWS]
    assert completed(FIND, window_of(trips()), start="Z") == ends


def test_an_argument_that_no_mapper_finds_determines_the_call_once_it_is_known() -> None:
    template = Template("find", (("day", Mapper(Source("user"), "date")), ("limit", Constant(5))))
    window = window_of(trips())
    assert completed(template, window) == []
    assert completed(template, window, day="2024-05-03") == [(None, {"day": "2024-05-03", "limit": 5})]


def test_an_argument_that_the_template_does_not_have_leaves_nothing() -> None:
    assert completed(FIND, window_of(trips()), via="X") == []


def test_another_tool_leaves_nothing() -> None:
    assert completed(FIND, window_of(trips()), tool="book") == []
    assert completed(FIND, window_of(trips()), tool="book", start="C") == []


def test_of_repeats_those_that_agree_are_left() -> None:
    script = Script()
    for name in ("a", "b"):
        script.call("get", {"id": name, "in": "x"}, 1)
    assert completed(Repeat("get"), window_of(script), tool="get", id="a") == [(1, {"id": "a", "in": "x"})]


def test_what_was_asked_for_before_is_no_completion_of_a_template() -> None:
    window = window_of(trips().call("find", {"start": "C", "end": "D"}, 1))
    assert completed(FIND, window, start="C") == [(1, {"start": "C", "end": "E"})]


def test_odds_become_shares_of_the_calls_that_are_left() -> None:
    pattern = Pattern(FIND, ({},))
    expected = [Expected(pattern, ((0.2, 0.3), (0.1, 0.2), (0.1, 0.1)), 0.23)]
    window = window_of(trips())
    named = shares(expected, window, Outline("find", {}))
    assert [(round(one.share, 3), round(one.later, 3)) for one in named] == [(0.4, 0.1), (0.2, 0.1), (0.2, 0.0)]
    known = shares(expected, window, Outline("find", {"start": "C"}))
    assert [(one.invocation.arguments["end"], round(one.share, 3)) for one in known] == [("D", 0.3), ("E", 0.3)]
    beside = {Invocation("find", {"start": "C", "end": "D"}).key}
    assert [round(one.share, 3) for one in shares(expected, window, Outline("find", {"start": "C"}), beside)] == [0.6]
    assert shares(expected, window, Outline("find", {"start": "C", "x": 1})) == []


values = st.sampled_from(("A", "B", "C", "D"))


@settings(deadline=None)
@given(
    rows=st.lists(st.tuples(values, values), max_size=6),
    known=st.dictionaries(st.sampled_from(("end", "start")), values),
)
def test_every_completion_agrees_with_what_is_known_and_each_is_given_once(
    rows: list[tuple[str, str]], known: dict[str, Any]
) -> None:
    script = Script().call("trips", {}, {"trips": [{"from": start, "to": end} for start, end in rows]})
    window, outline = window_of(script), Outline("find", known)
    found = [invocation for _, invocation in completions(FIND, window, outline)]
    assert all(outline.allows(invocation) for invocation in found)
    assert len({invocation.key for invocation in found}) == len(found)
    bound = {invocation.key for invocation in FIND.bind(window) if outline.allows(invocation)}
    assert bound <= {invocation.key for invocation in found}


def test_a_predictor_completes_the_call_and_stays_as_it_is() -> None:
    count = Count(seen=10, next=5, ever=6)
    pool = Pool((Pattern(FIND, ({"": count}, {"": count}, {"": count}), id="p"),))
    predictor = Predictor(pool)
    before = [predictor.step(event) for event in trips().events][-1]
    (candidate,) = predictor.narrow(Outline("find", {"end": "B"})).candidates
    assert (candidate.invocation, candidate.source) == (Invocation("find", {"start": "A", "end": "B"}), NARROWED)
    assert predictor.narrow(Outline("book", {})).candidates == ()
    assert predictor.step(trips().events[-1]) == before


def test_a_predictor_tells_what_it_expects_at_once_from_what_it_expects_later() -> None:
    pool = Pool((Pattern(FIND, ({"": Count(seen=1000, next=200, ever=800)},), id="p"),))
    (candidate,) = [Predictor(pool).step(event) for event in trips().events][-1].candidates
    assert candidate.later is not None
    assert round(candidate.later / candidate.confidence, 1) == 0.7
