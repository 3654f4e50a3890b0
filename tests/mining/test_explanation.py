"""What an explanation says holds: its ranks are those that calls are judged by, its reasons those that counted."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status
from paste_proxy.events.types import ToolCall, ToolOutput, UserMessage
from paste_proxy.importers.neutral import read_sessions
from paste_proxy.mining.evaluate import Evaluation
from paste_proxy.mining.explanation import Explanation, Sight
from paste_proxy.mining.forecast.judgement import NO_JUDGEMENT, Judgement
from paste_proxy.mining.forecast.measures import MEASURES
from paste_proxy.mining.handwritten import read_handwritten
from paste_proxy.mining.pool import Pool
from paste_proxy.mining.predict import Predictor
from paste_proxy.mining.storage import parse_pool
from paste_proxy.share import find, share
from tests.mining.sessions import Script, Session
from tests.mining.test_predict import POOL, results

TRACES = sorted(share("traces").glob("*.jsonl.gz"))
LIVE = (
    Script("live")
    .user("Tell me about yaks")
    .call("search", {"query": "yaks?"}, results("yaks"))
    .call("visit", {"url": "https://yaks.org/0"}, "Error: no route", ok=False)
    .end()
)


def pool_of(name: str) -> Pool:
    path = find("patterns", name)
    return parse_pool(path.read_text("utf-8"), str(path))


def reported(session: Session, pool: Pool, turn: int) -> dict[str, Any]:
    explanation = Explanation(session, pool)
    return next(explanation.report(sight) for sight in explanation.sights() if sight.turn == turn)


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.name.partition(".")[0])
def test_its_ranks_are_those_that_evaluate_counts(path: Path) -> None:
    pool = pool_of("builtin:tau_airline" if "tau" in path.name else "builtin:coding")
    for session in read_sessions([path])[:2]:
        evaluation = Evaluation()
        evaluation.add(session, Predictor(pool).step)
        ranks = [rank for sight in Explanation(session, pool).sights() for _, rank in sight.asked]
        assert evaluation.every.calls == len(ranks)
        assert evaluation.every.first == ranks.count(1)
        assert evaluation.every.three == sum(rank is not None and rank <= 3 for rank in ranks)


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.name.partition(".")[0])
def test_every_candidate_has_a_reason_and_what_it_was_read_from_holds_it(path: Path) -> None:
    session = read_sessions([path])[0]
    explanation = Explanation(session, pool_of("builtin:tau_airline" if "tau" in path.name else "builtin:coding"))
    for sight in explanation.sights():
        report: Any = explanation.report(sight)
        for one in report["candidates"]:
            why = one["why"]
            assert why["patterns"] or why["for"] or why["against"]
            assert one["source"] == "forecast" or one["source"] == why["patterns"][0]["id"]
            assert all(trait["adds"] > 0 for trait in why["for"])
            assert all(trait["adds"] < 0 for trait in why["against"])
            for drawn in [*why["arguments"], *(drawn for pattern in why["patterns"] for drawn in pattern["arguments"])]:
                assert ("constant" in drawn["mapper"]) == (not drawn["events"])
                assert all(event["event"] <= sight.event for event in drawn["events"])


def test_an_argument_is_traced_to_the_event_it_stands_in() -> None:
    report = reported(LIVE, POOL, 2)
    assert report["asked"] == [{"tool": "visit", "arguments": {"url": "https://yaks.org/0"}, "rank": 1}]
    (pattern, *_) = report["candidates"][0]["why"]["patterns"]
    (url,) = pattern["arguments"]
    assert (url["name"], url["value"]) == ("url", "https://yaks.org/0")
    assert [event["event"] for event in url["events"]] == [2]
    assert url["events"][0]["what"].startswith("search answered ")


WRITTEN = """
[[pattern]]
id = "report"
tool = "write"
after = "ok visit"
confidence = 0.5
arguments.text = {{ text = "{subject}: {link}", holes = {{ subject = {from_user}, link = {from_search} }} }}
arguments.kind = {{ constant = "note" }}
"""


def test_of_a_text_with_holes_each_hole_is_traced_and_a_constant_is_none() -> None:
    holes = {
        "from_user": '{ from = "user", take = "quoted" }',
        "from_search": '{ from = "output", tool = "search", take = "/results/*/url" }',
    }
    pool = read_handwritten(WRITTEN.format(subject="{subject}", link="{link}", **holes), "here")
    script = Script("live").user('About "yaks"').call("search", {"query": "yaks"}, results("yaks"))
    session = script.call("visit", {"url": "https://yaks.org/0"}, "a page").end()
    report = reported(session, pool, 3)
    (candidate,) = [one for one in report["candidates"] if one["arguments"]["text"].endswith("org/0")]
    (pattern,) = candidate["why"]["patterns"]
    assert (pattern["id"], pattern["context"], pattern["believed"]) == ("report", "ok visit", 0.5)
    assert (pattern["seen"], pattern["next"], pattern["ever"]) == (None, None, None)  # nobody counted
    kind, text = pattern["arguments"]
    assert (kind["events"], kind["in_words"]) == ([], 'always "note"')
    assert [event["event"] for event in text["events"]] == [2, 0]  # by the names of the holes: link, subject


def test_of_several_constants_each_is_a_usual_value() -> None:
    look = '[[pattern]]\nid = "{0}"\ntool = "look"\nconfidence = 0.5\narguments.at = {{ constant = "{0}" }}\n'
    session = Script().user("go").call("look", {"at": "a"}, "A").end()
    for names, said in (("a", {'always "a"'}), ("ab", {'a usual value, "a"', 'a usual value, "b"'})):
        pool = read_handwritten("".join(map(look.format, names)), "here")
        given = [why for one in reported(session, pool, 1)["candidates"] for why in one["why"]["patterns"]]
        assert {drawn["in_words"] for pattern in given for drawn in pattern["arguments"]} == said


def test_a_repeat_names_the_call_it_repeats() -> None:
    session = Script().user("go").call("look", {"at": "a"}, "A").call("look", {"at": "b"}, "B").end()
    report = reported(session, pool_of("builtin:general"), 3)
    repeated = {one["arguments"]["at"]: one["why"]["repeats"]["event"] for one in report["candidates"]}
    assert repeated == {"a": 1, "b": 3}
    assert report["asked"] == []


def test_what_a_judgement_adds_is_among_the_reasons() -> None:
    (model,) = POOL.models
    size = len(MEASURES)
    inner = [[1.0]] * size
    judged = replace(
        model,
        finder=replace(model.finder, judged=True),
        soon=Judgement([0.0] * size, [1.0] * size, inner, shifts=[0.5], outer=[9.0]),
    )
    explained = reported(LIVE, replace(POOL, models=(judged,)), 2)["candidates"][0]["why"]
    assert "judged" in [trait["trait"] for trait in (*explained["for"], *explained["against"])]
    unjudged = replace(POOL, models=(replace(model, soon=NO_JUDGEMENT),))
    plain = reported(LIVE, unjudged, 2)["candidates"][0]["why"]
    assert "judged" not in [trait["trait"] for trait in (*plain["for"], *plain["against"])]


def test_a_call_that_its_turn_s_earlier_call_matched_has_the_rank_among_those_left() -> None:
    def sight(explanation: Explanation) -> Sight:
        return [*explanation.sights()][1]

    batch: list[tuple[str, dict[str, Any], Any]] = [
        ("visit", {"url": f"https://yaks.org/{at}"}, "page") for at in (0, 1)
    ]
    session = Script().user("Tell me about yaks").call("search", {"query": "yaks"}, results("yaks")).batch(batch).end()
    keys = [one.invocation.key for one in sight(Explanation(session, POOL)).candidates]
    asked = sight(Explanation(session, POOL)).asked
    assert keys.index(asked[1][0].key) > 0
    assert [rank for _, rank in asked] == [1, keys.index(asked[1][0].key)]


def test_a_session_that_breaks_off_is_explained_to_its_end() -> None:
    events = (
        ToolOutput(session="s", ts=None, call_id="x", tool="look", output="?", status=Status.OK),
        UserMessage(session="s", ts=None, text="hi"),
        ToolCall(session="s", ts=None, call_id="c", invocation=Invocation("look", {"at": "a"})),
    )
    explanation = Explanation(Session("s", events), pool_of("builtin:general"))
    assert [(sight.turn, len(sight.asked)) for sight in explanation.sights()] == [(1, 1)]


def test_a_call_that_nothing_had_come_before_has_no_candidates() -> None:
    session = Script().call("look", {"at": "a"}, "A").end()
    first = next(Explanation(session, POOL).sights())
    assert (first.turn, first.event, first.candidates, [rank for _, rank in first.asked]) == (1, -1, (), [None])
    assert reported(session, POOL, 1)["after"] is None


def test_nothing_is_explained_of_nothing() -> None:
    assert list(Explanation(Session("s", ()), Pool()).sights()) == []
