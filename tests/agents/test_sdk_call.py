"""How long a call waits, as a conversation."""

from collections.abc import Generator

import pytest

from paste_proxy.agents.sdk_call import Call, Hold, Own, Take, Until, decision
from paste_proxy.agents.sdk_jobs import Job, Tool

TOOL = Tool("fetch", lambda arguments: arguments, is_async=False)


def call() -> Call:
    return Call(1, "task", TOOL, {}, None)


def end(steps: Generator[Until, None, Own | Take]) -> Own | Take:
    with pytest.raises(StopIteration) as stop:
        next(steps)
    answer: Own | Take = stop.value.value
    return answer


def test_a_call_without_a_word_waits_for_its_patience_and_then_runs_for_good() -> None:
    asked = call()
    steps = decision(asked, 0.25)
    assert next(steps) == Until((asked.answer,), 0.25)
    assert end(steps) == Own("slow")
    assert not asked.resolve(Take(Job(7, TOOL), "reused")), "a late word finds nobody waiting"


def test_a_word_in_time_is_the_answer() -> None:
    asked = call()
    steps = decision(asked, 0.25)
    next(steps)
    assert asked.resolve(Own("told"))
    assert end(steps) == Own("told")


def test_a_promoted_call_waits_as_long_as_its_job_runs() -> None:
    asked, job = call(), Job(7, TOOL)
    steps = decision(asked, 0.25)
    next(steps)
    hold = Hold(job)
    assert asked.resolve(hold)
    assert next(steps) == Until((job.ended, hold.then), None)
    job.ended.set_result("value")
    assert next(steps) == Until((hold.then,), 0.25)
    take = Take(job, "promoted")
    assert asked.resolve(take)
    assert next(steps) == Until((job.ended,), None)
    assert end(steps) == take


def test_a_promoted_call_whose_decision_stays_out_after_its_job_runs() -> None:
    asked, job = call(), Job(7, TOOL)
    steps = decision(asked, 0.25)
    next(steps)
    asked.resolve(Hold(job))
    next(steps)
    job.ended.set_result("value")
    next(steps)
    assert end(steps) == Own("slow")


def test_a_promoted_call_is_let_go_while_its_job_still_runs() -> None:
    asked, job = call(), Job(7, TOOL)
    steps = decision(asked, 0.25)
    next(steps)
    asked.resolve(Hold(job))
    next(steps)
    asked.resolve(Own("lost"))
    next(steps)
    assert end(steps) == Own("lost")
