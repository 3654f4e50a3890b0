"""What the measurement counts, on sessions small enough to count by hand."""

from collections.abc import Callable, Sequence

from paste_proxy.events.candidate import Candidate
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.types import Event, ToolCall, ToolOutput
from paste_proxy.mining.evaluate import Evaluation
from paste_proxy.mining.prediction import Prediction
from tests.mining.sessions import Script, Session


def oracle(*told: Sequence[tuple[str, float]]) -> Callable[[Event], Prediction]:
    """Predicts what it is told to, event by event."""
    left = list(told)

    def predict(event: Event) -> Prediction:
        return Prediction(tuple(candidate(name, confidence) for name, confidence in (left.pop(0) if left else ())))

    return predict


def candidate(name: str, confidence: float) -> Candidate:
    return Candidate(invocation=Invocation("get", {"id": name}), confidence=confidence, source="oracle")


def test_the_best_candidate_before_the_turn_is_a_top1_hit() -> None:
    evaluation = Evaluation(floor=0.2)
    session = Script().user("get a").call("get", {"id": "a"}, "A", seconds=3.0).end()
    evaluation.add(session, oracle([("a", 0.9), ("b", 0.5)]))
    report = evaluation.report()
    assert (report["calls"], report["top1"], report["top3"]) == (1, 1.0, 1.0)
    assert (report["speculated"], report["hits"], report["hit_rate"], report["wasted_per_hit"]) == (2, 1, 1.0, 1.0)
    assert report["seconds_weighted"] == 1.0


def test_what_is_predicted_after_the_turn_began_counts_for_nothing() -> None:
    evaluation = Evaluation(floor=0.2)
    session = Script().user("go").says("I will get a.").end()
    call = ToolCall(session="s", ts=None, call_id="c", invocation=Invocation("get", {"id": "a"}), turn=1)
    evaluation.add(type(session)("s", (*session.events, call)), oracle([], [("a", 0.9)], [("a", 0.9)]))
    report = evaluation.report()
    assert (report["calls"], report["top1"], report["hits"], report["speculated"]) == (1, 0.0, 0, 0)


def test_calls_of_one_turn_share_a_prediction_and_strike_what_they_take() -> None:
    evaluation = Evaluation(floor=0.2)
    session = Script().user("go").batch([("get", {"id": "a"}, 1), ("get", {"id": "b"}, 2)]).end()
    evaluation.add(session, oracle([("a", 0.9), ("b", 0.8)]))
    assert evaluation.report()["top1"] == 1.0


def test_an_early_prediction_hits_a_later_call_but_is_not_top1_there() -> None:
    evaluation = Evaluation(floor=0.2)
    session = Script().user("go").call("get", {"id": "x"}, 1).call("get", {"id": "a"}, 2).end()
    evaluation.add(session, oracle([("a", 0.9)]))
    report = evaluation.report()
    assert (report["hits"], report["top1"]) == (1, 0.0)


def test_below_the_floor_and_for_tools_that_write_nothing_is_launched() -> None:
    session = Script().user("go").call("get", {"id": "a"}, 1).end()
    low, writing = Evaluation(floor=0.2), Evaluation(is_read=lambda call: False)
    low.add(session, oracle([("a", 0.1)]))
    writing.add(session, oracle([("a", 0.9)]))
    assert low.report()["speculated"] == writing.report()["speculated"] == 0
    assert low.report()["top1"] == writing.report()["top1"] == 1.0
    assert writing.report()["read_only"] == {"calls": 0, "top1": 0.0, "top3": 0.0}


def test_a_declared_equivalence_counts_except_in_strict() -> None:
    session = Script().user("go").call("get", {"id": "a", "why": "because"}, 1).end()
    evaluation = Evaluation(core=lambda call: Invocation(call.tool, {"id": call.arguments["id"]}))
    evaluation.add(session, oracle([("a", 0.9)]))
    report = evaluation.report()
    assert (report["top1"], report["strict"]) == (1.0, {"top1": 0.0, "top3": 0.0})


def test_first_calls_and_repeats_are_told_apart() -> None:
    session = Script().user("go").call("get", {"id": "a"}, 1).call("get", {"id": "a"}, 1).end()
    evaluation = Evaluation(floor=0.2)
    evaluation.add(session, oracle([], [], [("a", 0.9)]))
    assert evaluation.report()["first_time"] == {"calls": 1, "top1": 0.0, "top3": 0.0}
    assert evaluation.report()["repeated"] == {"calls": 1, "top1": 1.0, "top3": 1.0}


def test_a_command_that_only_reads_is_counted_apart_and_never_run() -> None:
    session = Script().user("go").call("get", {"id": "a"}, 1).end()
    evaluation = Evaluation(
        floor=0.2, is_read=lambda call: False, is_reading_command=lambda call: call.arguments["id"] == "a"
    )
    evaluation.add(session, oracle([("a", 0.9)]))
    report = evaluation.report()
    assert report["read_commands"] == {"calls": 1, "top1": 1.0, "top3": 1.0}
    assert report["speculated"] == report["hits"] == 0


def test_a_call_may_be_a_read_where_another_of_its_tool_is_none() -> None:
    session = Script().user("go").call("get", {"id": "a"}, 1).call("get", {"id": "b"}, 1).end()
    evaluation = Evaluation(floor=0.2, is_read=lambda call: call.arguments["id"] == "a")
    evaluation.add(session, oracle([("a", 0.9), ("b", 0.8)]))
    report = evaluation.report()
    assert (report["read_only"], report["speculated"]) == ({"calls": 1, "top1": 1.0, "top3": 1.0}, 1)


def test_a_run_ahead_waits_eight_turns_and_no_more() -> None:
    for turns, hits in ((7, 1), (8, 0)):
        script = Script().user("go")
        for number in range(turns):
            script.call("get", {"id": f"x{number}"}, 1)
        evaluation = Evaluation(floor=0.2)
        evaluation.add(script.call("get", {"id": "a"}, 1).end(), oracle([("a", 0.9)]))
        report = evaluation.report()
        assert (report["hits"], report["reliability"]) == (hits, [[0.9, float(hits), 1]])


def test_the_budget_counts_every_candidate_beside_what_is_derivable() -> None:
    session = Script().user("get X12").call("get", {"id": "X12"}, 1).call("get", {"id": "Y99"}, 1).end()
    evaluation = Evaluation(floor=0.2)
    evaluation.add(session, oracle([("X12", 0.05)]))
    report = evaluation.report()
    assert (report["hits"], report["hit_rate_of_oracle"]) == (0, 0.0)
    assert report["budget"] == {"calls": 2, "hit_rate": 0.5, "oracle": 0.5, "hit_rate_of_oracle": 1.0}


def test_the_share_of_the_oracle_is_of_the_calls_that_may_be_run() -> None:
    session = Script().user("get X12").call("get", {"id": "X12"}, 1).call("set", {"id": "X12"}, 1).end()
    evaluation = Evaluation(floor=0.2, is_read=lambda call: call.tool == "get")
    evaluation.add(session, oracle([("X12", 0.9)]))
    report = evaluation.report()
    assert (report["hit_rate"], report["oracle"], report["hit_rate_of_oracle"]) == (0.5, 1.0, 1.0)


def test_a_call_whose_turn_nothing_precedes_is_judged_by_what_its_session_held() -> None:
    script = Script().user("X12").call("get", {"id": "X12"}, 1).call("get", {"id": "X12"}, 1)
    unanswered = [event for event in script.events if not isinstance(event, ToolOutput)]
    evaluation = Evaluation(floor=0.2)
    evaluation.add(Session("s", tuple(unanswered)), oracle([("X12", 0.9)]))
    report = evaluation.report()
    assert (report["calls"], report["top1"], report["oracle"]) == (2, 0.5, 1.0)


def test_a_call_is_derivable_if_its_arguments_stood_in_the_session() -> None:
    session = Script().user("get X12").call("get", {"id": "X12"}, 1).call("get", {"id": "Y99"}, 1).end()
    evaluation = Evaluation(floor=0.2)
    evaluation.add(session, oracle())
    assert evaluation.report()["oracle"] == 0.5


def test_the_calibration_error_is_the_distance_of_confidence_from_outcome() -> None:
    session = Script().user("go").call("get", {"id": "a"}, 1).end()
    evaluation = Evaluation(floor=0.2)
    evaluation.add(session, oracle([("a", 0.75), ("b", 0.25)]))
    assert evaluation.report()["ece"] == 0.25
