"""What must not be run ahead takes no candidate's place, and is told of all the same."""

from collections.abc import Sequence

from paste_proxy.events.candidate import Candidate
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.outline import Outline
from paste_proxy.events.types import Event, LlmTurn, TurnStarted
from paste_proxy.events.values import Json
from paste_proxy.mining.evaluate import Evaluation
from paste_proxy.mining.mine import mine
from paste_proxy.mining.predict import Predictor
from paste_proxy.mining.prediction import Barred
from paste_proxy.proxy.named_files import general_pool
from tests.mining.sessions import Script, Session

from .test_predict import NAMES

LEAST = 0.2


def orders(name: str) -> Session:
    """A customer's orders are listed; one is looked up and cancelled, another looked up."""
    listed: Json = {"orders": [f"{name}-1", f"{name}-2"]}
    script = Script(name).user(f"cancel the first order of {name}").call("list", {"customer": name}, listed)
    script.call("look", {"id": f"{name}-1"}, "open").call("cancel", {"id": f"{name}-1"}, "done")
    return script.call("look", {"id": f"{name}-2"}, "open").says("Done.").end()


POOL = mine([orders(name) for name in NAMES])
BARRED = Barred(
    tool=lambda tool: tool == "cancel", call=lambda call: call.tool == "cancel" or "-2" in call.key, least=LEAST
)
LOOKED = list(
    Script("live")
    .user("cancel the first order of x")
    .call("list", {"customer": "x"}, {"orders": ["x-1", "x-2"]})
    .call("look", {"id": "x-1"}, "open")
    .end()
    .events
)
CANCEL, LOOK_ON = Invocation("cancel", {"id": "x-1"}), Invocation("look", {"id": "x-2"})


def runs(tool: str) -> bool:
    return tool != "cancel"


def predictor(candidates: int = 8) -> Predictor:
    return Predictor(POOL, executable=runs, barred=BARRED, candidates=candidates)


def stepped(made: Predictor, events: Sequence[Event]) -> tuple[Candidate, ...]:
    return [made.step(event).candidates for event in events][-1]


def test_a_call_of_a_tool_that_is_never_run_ahead_is_glimpsed() -> None:
    made = predictor()
    assert CANCEL not in [one.invocation for one in stepped(made, LOOKED)]
    glimpsed = {one.invocation: one.confidence for one in made.glimpse()}
    assert glimpsed[CANCEL] > 0.5
    assert min(glimpsed.values()) >= LEAST
    assert not made.glimpse(), "told once"


def test_of_a_tool_that_is_run_ahead_a_call_that_must_not_be_is_glimpsed_and_the_next_best_has_its_place() -> None:
    free, made = Predictor(POOL, executable=runs, candidates=1), predictor(candidates=1)
    assert [one.invocation for one in stepped(free, LOOKED)] == [LOOK_ON]
    (instead,) = stepped(made, LOOKED)
    assert instead.invocation not in (LOOK_ON, CANCEL)
    assert LOOK_ON in [one.invocation for one in made.glimpse()]


def test_candidates_are_what_they_would_be_if_nobody_asked_what_is_barred() -> None:
    alone, made = Predictor(POOL, executable=runs), Predictor(POOL, executable=runs, barred=Barred(tool=BARRED.tool))
    for event in orders("z").events:
        assert alone.step(event) == made.step(event)
        made.glimpse()


def test_there_is_nothing_to_glimpse_between_moments() -> None:
    made = predictor()
    assert not made.glimpse()
    stepped(made, LOOKED)
    made.step(TurnStarted(session="s", ts=None, turn=3, model="m"))
    assert made.glimpse(), "the next turn knows no more"
    made.step(orders("z").events[1])
    assert not made.glimpse(), "a call is under way"
    stepped(made, LOOKED)
    made.follow(LlmTurn(session="s", ts=None, text="Done."))
    assert not made.glimpse()


def test_what_is_unlikely_is_not_told_of() -> None:
    made = Predictor(POOL, executable=runs, barred=Barred(tool=BARRED.tool, call=BARRED.call, least=0.999))
    stepped(made, LOOKED)
    assert not made.glimpse()


def test_nothing_is_looked_for_while_a_call_is_written_that_must_not_be_run_ahead() -> None:
    by_tool, by_call = Barred(tool=BARRED.tool), Barred(call=BARRED.call)
    for barred, call in ((by_tool, CANCEL), (by_call, LOOK_ON)):
        free, made = Predictor(POOL), Predictor(POOL, executable=runs, barred=barred)
        stepped(free, LOOKED)
        stepped(made, LOOKED)
        assert call in [one.invocation for one in free.narrow(Outline(call.tool, {})).candidates]
        assert call not in [one.invocation for one in made.narrow(Outline(call.tool, {})).candidates]


def test_where_no_tool_is_known_what_the_session_repeats_is_glimpsed() -> None:
    barred = Barred(tool=lambda tool: tool == "test", least=LEAST)
    made = Predictor(general_pool(), executable=lambda tool: tool != "test", barred=barred)
    script = Script("live").user("make it pass")
    for at in range(4):
        script.call("test", {"path": "tests"}, "1 failed", ok=False).call("edit", {"text": f"try {at}"}, "ok")
    assert "test" not in {one.invocation.tool for one in stepped(made, script.events)}
    assert Invocation("test", {"path": "tests"}) in [one.invocation for one in made.glimpse()]


def test_an_evaluation_predicts_what_a_sidecar_would() -> None:
    evaluation = Evaluation(is_read=lambda call: not BARRED.call(call), some_read=runs)
    for made in (predictor(), evaluation.ahead(POOL)):
        invocations = [one.invocation for one in stepped(made, LOOKED)]
        assert invocations
        assert LOOK_ON not in invocations
        assert CANCEL not in invocations
