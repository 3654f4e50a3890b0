"""What sessions teach: patterns demoted and promoted, habits learned, and nothing without end."""

from hypothesis import given, settings
from hypothesis import strategies as st

from paste_proxy.events.candidate import Candidate
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.types import Event, LlmTurn
from paste_proxy.events.values import Json
from paste_proxy.mining.forecast.adaptation import Adaptation, Place, _correct
from paste_proxy.mining.forecast.lessons import MOST
from paste_proxy.mining.general import mine_general
from paste_proxy.mining.handwritten import read_handwritten
from paste_proxy.mining.mine import mine
from paste_proxy.mining.pool import combine
from paste_proxy.mining.predict import Predictor
from tests.mining.sessions import Script, Session

NAMES = ["ants", "bees", "cats", "dogs", "eels", "frogs", "goats", "hens"]
WRITTEN = """
[[pattern]]
id = "search-then-visit"
tool = "visit"
after = "ok search"
confidence = 0.6
arguments.url = { from = "output", tool = "search", take = "url" }
"""


def searching(name: str, *, paying: bool) -> Script:
    """After a search either its first result is visited, as mined, or a note is taken."""
    urls: Json = {"results": [{"url": f"https://{name}.org/{rank}"} for rank in range(3)]}
    script = Script(name).user(f"Tell me about {name}").call("search", {"query": name + "?"}, urls)
    if paying:
        script.call("visit", {"url": f"https://{name}.org/0"}, "a page")
    else:
        script.call("note", {"text": f"{name} and so on"}, "noted")
    return script.says("This is what I found.")


BY_HAND = read_handwritten(WRITTEN, "by_hand.toml")
MINED = mine([searching(name, paying=True).end() for name in NAMES])


def live(predictor: Predictor, session: Session) -> list[tuple[Candidate, ...]]:
    """What was predicted after each event of a whole session."""
    found = [predictor.step(event).candidates for event in session.events]
    predictor.end()
    return found


def visit_after_search(adaptation: Adaptation, name: str) -> Candidate | None:
    """The forecast of the first result, in a session of which nothing more is seen."""
    events = searching(name, paying=True).events[:3]
    predictor = Predictor(adaptation.pool, adaptation=adaptation)
    candidates = [predictor.step(event).candidates for event in events][-1]
    wanted = Invocation("visit", {"url": f"https://{name}.org/0"})
    return next((one for one in candidates if one.invocation == wanted), None)


def confidence(adaptation: Adaptation, name: str) -> float:
    found = visit_after_search(adaptation, name)
    return found.confidence if found is not None else 0.0


def learn(adaptation: Adaptation, *, paying: bool, times: int, prefix: str) -> None:
    for at in range(times):
        session = searching(f"{prefix}{at}", paying=paying).end()
        live(Predictor(adaptation.pool, adaptation=adaptation), session)


def test_a_pattern_that_stops_paying_is_demoted_and_one_that_pays_again_comes_back() -> None:
    adaptation = Adaptation(MINED, [Place.fresh()])
    at_first = confidence(adaptation, "yaks")
    learn(adaptation, paying=False, times=40, prefix="unpaid")
    demoted = confidence(adaptation, "yaks")
    assert demoted < at_first / 2
    assert adaptation.demoted()
    learn(adaptation, paying=True, times=60, prefix="paid")
    assert confidence(adaptation, "yaks") > 2 * demoted
    assert adaptation.demoted() == []


def test_a_pattern_written_by_hand_is_demoted_likewise() -> None:
    adaptation = Adaptation(BY_HAND, [Place.fresh()])
    at_first = confidence(adaptation, "yaks")
    learn(adaptation, paying=False, times=40, prefix="unpaid")
    assert confidence(adaptation, "yaks") < at_first / 2
    assert adaptation.demoted() == ["search-then-visit"]


def test_what_a_pool_gives_is_the_same_with_an_adaptation_that_has_learned_nothing() -> None:
    adaptation = Adaptation(MINED, [Place.fresh(), Place.fresh()])
    session = searching("yaks", paying=True).end()
    plain, adapted = Predictor(MINED), Predictor(MINED, adaptation=adaptation)
    first = [(plain.step(event), adapted.step(event)) for event in session.events[:3]]
    assert all(one == other for one, other in first)


def test_the_pool_itself_is_left_as_it_was_mined() -> None:
    (model,) = MINED.models
    before = dict(model.next), dict(model.ever)
    learn(Adaptation(MINED, [Place.fresh()]), paying=False, times=5, prefix="n")
    assert (dict(model.next), dict(model.ever)) == before


def test_what_a_place_has_learned_counts_in_the_next_sidecar() -> None:
    place = Place.fresh()
    adaptation = Adaptation(MINED, [place])
    learn(adaptation, paying=False, times=20, prefix="n")
    again = Adaptation(MINED, [place])
    assert abs(confidence(again, "yaks") - confidence(adaptation, "yaks")) < 1e-9


def test_what_was_learned_fades_as_time_passes() -> None:
    place = Place.fresh()
    learn(Adaptation(MINED, [place]), paying=False, times=40, prefix="n")
    learned = confidence(Adaptation(MINED, [place]), "yaks")
    place.faded(0.0001)
    fresh = confidence(Adaptation(MINED, [Place.fresh()]), "yaks")
    faded = confidence(Adaptation(MINED, [place]), "yaks")
    assert learned < fresh
    assert abs(faded - fresh) < 0.01


def test_chains_and_calls_being_written_teach_nothing() -> None:
    adaptation = Adaptation(MINED, [Place.fresh()])
    predictor = Predictor(MINED, adaptation=adaptation)
    *past, call, output = searching("yaks", paying=True).events[:3]
    for event in past:
        predictor.step(event)
    for _ in range(5):
        predictor.suppose([call], output)
    predictor.end()
    assert adaptation.moments == 0


def test_a_turn_that_broke_off_teaches_nothing() -> None:
    moments = []
    for complete in (True, False):
        adaptation = Adaptation(MINED, [Place.fresh()])
        predictor = Predictor(MINED, adaptation=adaptation)
        for event in searching("yaks", paying=True).events[:3]:
            predictor.step(event)
        predictor.step(LlmTurn(session="yaks", ts=None, text="I wi", turn=2, complete=complete))
        predictor.end()
        moments.append(adaptation.moments)
    assert moments == [2, 1], "the search was foreseen in a whole turn"


def editing(name: str) -> Session:
    script = Script(name).user(f"Mend {name}, it does not work as it should since yesterday")
    for part in ("a", "b"):
        script.call("edit", {"path": f"{name}/{part}.ts", "text": name * 3}, "edited")
        script.call("shell", {"command": "npm test"}, "all passed")
    return script.says("Done.").end()


GENERAL, _ = mine_general([editing(f"old-{at}") for at in range(12)])


def test_a_place_without_a_pool_learns_what_is_run_after_an_edit() -> None:
    adaptation = Adaptation(GENERAL, [Place.fresh()])
    for name in NAMES[:4]:
        live(Predictor(GENERAL, adaptation=adaptation), editing(name))
    script = Script("new").user("And now for something else").call("edit", {"path": "c.ts", "text": "x"}, "edited")
    predictor = Predictor(GENERAL, adaptation=adaptation)
    candidates = [predictor.step(event).candidates for event in script.events][-1]
    assert candidates[0].invocation == Invocation("shell", {"command": "npm test"})
    assert candidates[0].confidence > 0.3


def test_in_a_first_session_without_a_pool_its_own_repeats_are_foreseen() -> None:
    session = editing("fresh")
    found = live(Predictor(GENERAL), session)
    again = Invocation("shell", {"command": "npm test"})
    second_edit = found[-4]
    assert again in [one.invocation for one in second_edit]


def test_the_general_model_leaves_known_tools_to_the_model_that_was_mined_with_them() -> None:
    session = searching("yaks", paying=True).end()
    alone, beside = Predictor(MINED), Predictor(combine([MINED, GENERAL]))
    for event in session.events:
        mine_, both = alone.step(event), beside.step(event)
        assert [one.invocation for one in mine_.candidates] == [one.invocation for one in both.candidates]


EVENTS = [event for name in ("a", "b") for event in searching(name, paying=True).events] + list(editing("c").events)


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(EVENTS)), max_size=40))
@settings(max_examples=60, deadline=None)
def test_sessions_in_any_order_share_one_memory_without_harm(steps: list[tuple[int, Event]]) -> None:
    adaptation = Adaptation(combine([MINED, GENERAL]), [Place.fresh(), Place.fresh(0.03)])
    predictors = [Predictor(adaptation.pool, adaptation=adaptation) for _ in range(3)]
    for number, event in steps:
        for one in predictors[number].step(event).candidates:
            assert 0 <= one.confidence <= 1
    for predictor in predictors:
        predictor.end()


def test_what_comes_next_comes_at_all_however_a_pattern_was_corrected() -> None:
    adaptation = Adaptation(BY_HAND, [Place.fresh()])
    for _ in range(300):
        adaptation.learn_pattern("search-then-visit", (0.6, 0.62), (False, False))
    for _ in range(60):
        adaptation.learn_pattern("search-then-visit", (0.3, 0.9), (True, False))
    next_, ever = adaptation.odds("search-then-visit", (0.6, 0.62))
    assert next_ <= ever


def test_what_tools_met_once_taught_is_dropped_from_the_weights_too() -> None:
    adaptation = Adaptation(MINED, [Place.fresh()])
    for number in range(4_000):
        lessons = adaptation._places[0].next
        _correct(adaptation._next, lessons.step({f"T:made-up-{number}": 1.0}))
    assert sum(trait.startswith("T:made-up") for trait in adaptation._next[0]) <= 1.25 * MOST


def test_what_is_one_sessions_own_or_a_secret_leaves_no_habit() -> None:
    call = Invocation("crm", {"email": "a@b.org"})
    for shared, harmless in ((True, True), (False, True), (True, False)):
        told = {call.tool: shared}.__getitem__, {call: harmless}.__getitem__
        adaptation = Adaptation(MINED, [Place.fresh()], shared=told[0], harmless=told[1])
        for _ in range(3):
            adaptation.note(call, "user", first=True)
        assert [one.invocation for one in adaptation.usual("user", ())] == ([call] if shared and harmless else [])


def test_history_that_is_shown_again_is_nobodys_habit() -> None:
    place = Place.fresh()
    session = editing("one")
    for _ in range(2):
        predictor = Predictor(GENERAL, adaptation=Adaptation(GENERAL, [place]))
        for event in session.events:
            predictor.follow(event)
        predictor.end()
    assert place.habits.written() == []


def test_one_session_counts_once_however_many_other_calls_it_makes() -> None:
    place = Place.fresh()
    predictor = Predictor(GENERAL, adaptation=Adaptation(GENERAL, [place]))
    script = Script("long").user("Look at everything")
    for turn in range(24):
        script.call("look", {"at": "home"}, "seen")
        script.batch([("look", {"at": f"{turn}/{at}"}, "seen") for at in range(200)])
    live(predictor, script.call("look", {"at": "home"}, "seen").end())
    assert max(one.sessions for one in place.habits.written()) <= 1.0
    assert list(place.habits.usual("ok look", ())) == []
