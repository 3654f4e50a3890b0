"""Continuous batching in virtual time: what steps cost, who is let in, and who is thrown out again."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paste_proxy.sim.batching import Begun, Engine, Finished, Reached, Request, Writes
from paste_proxy.sim.engine_model import EngineModel

from .engine_runs import STEADY, Run, later, request


def test_a_turn_alone_takes_its_prompt_and_a_step_for_each_token() -> None:
    model = replace(STEADY, prompt_s=0.001)
    run = Run(model, [request(1, answer=100, prompt=500)])
    prompts_s = 500 * 0.001 + model.step_s * 500 / model.chunk_tokens
    assert run.times(Writes)[1] == pytest.approx(prompts_s, rel=0.1)
    assert run.times(Finished)[1] - run.times(Writes)[1] == pytest.approx(1.0)


def test_all_turns_of_a_batch_get_a_token_a_step() -> None:
    run = Run(replace(STEADY, turn_s=0.01), [request(1, 100), request(2, 50)])
    assert run.spoken() == [
        "0.00 begun 1",
        "0.00 writes 1",
        "0.00 begun 2",
        "0.00 writes 2",
        "1.50 finished 2",  # 50 steps of 30 ms
        "2.50 finished 1",  # and as many of 20 ms
    ]


def test_a_crowd_costs_by_its_square() -> None:
    run = Run(replace(STEADY, crowd_s=0.01), [request(turn, 10) for turn in range(3)])
    assert run.times(Finished) == pytest.approx(dict.fromkeys(range(3), 10 * (0.01 + 9 * 0.01)))


def test_steps_get_longer_as_contexts_grow() -> None:
    run = Run(replace(STEADY, context_s=0.0001), [request(1, 100)])
    assert run.times(Finished)[1] == pytest.approx(100 * 0.01 + 0.0001 * 100 * 100 / 2, rel=0.02)


def test_prompts_are_worked_off_in_the_order_of_their_turns_and_slow_the_others() -> None:
    model = replace(STEADY, prompt_s=0.0001, chunk_tokens=1_000)
    run = Run(model, [request(1, 100), later(0.5, 2, 10, prompt=4_000), later(0.5, 3, 10, prompt=1_000)])
    assert run.times(Writes)[2] == pytest.approx(0.5 + 4 * 0.11)
    assert run.times(Writes)[3] == pytest.approx(0.5 + 5 * 0.11)
    assert run.times(Finished)[1] == pytest.approx(1.0 + 5 * 0.1)


def test_marks_are_told_when_they_are_reached() -> None:
    run = Run(STEADY, [request(1, 100, marks=(0.0, 40.0, 100.0))])
    marks = [line for line in run.spoken() if "begun" not in line and "writes" not in line]
    assert marks == ["0.00 mark 0 of 1", "0.40 mark 1 of 1", "1.00 mark 2 of 1", "1.00 finished 1"]


def test_more_than_its_largest_batch_wait_in_its_own_queue() -> None:
    run = Run(replace(STEADY, max_batch=2), [request(turn, 100) for turn in range(1, 4)])
    assert run.times(Begun) == {1: 0.0, 2: 0.0, 3: pytest.approx(1.0)}


def test_it_says_how_full_it_is() -> None:
    engine = Engine(replace(STEADY, max_batch=1, kv_tokens=1_000))
    for _, one in (request(1, 100, prompt=500), request(2, 100)):
        engine.submit(one, 0.0)
    assert (engine.load.running, engine.load.waiting) == (1, 1)
    engine.advance(engine.next_at())
    assert engine.load.kv_used == pytest.approx(0.5)
    assert engine.load.cache_hits == 0.0


def test_what_a_session_left_in_the_cache_is_not_prefilled_again() -> None:
    model = replace(STEADY, prompt_s=0.001)
    first, second = request(1, 10, prompt=1_000, session="s"), later(100.0, 2, 10, prompt=1_100, session="s")
    run = Run(model, [first, second])
    assert run.times(Writes)[2] - 100.0 == pytest.approx(90 * 0.001 + model.step_s)
    apart = Run(model, [first, later(100.0, 2, 10, prompt=1_100, session="another")])
    assert apart.times(Writes)[2] - 100.0 > 1.0


def test_where_contexts_outgrow_the_room_the_last_one_is_thrown_out_and_comes_back() -> None:
    model = replace(STEADY, kv_tokens=150)
    run = Run(model, [request(1, 100), request(2, 100)])
    assert run.engine.preempted == 1
    assert run.times(Finished) == {1: pytest.approx(1.0), 2: pytest.approx(1.26)}, (
        "75 tokens are prefilled anew in a step"
    )
    assert run.engine.produced == pytest.approx(200.0), "what it had written is prefilled, not written again"


def test_one_that_is_alone_may_outgrow_it() -> None:
    run = Run(replace(STEADY, kv_tokens=50), [request(1, 100)])
    assert run.engine.preempted == 0
    assert run.times(Finished)[1] == pytest.approx(1.0)


REQUESTS = st.lists(
    st.tuples(
        st.floats(0, 20),
        st.floats(0, 5_000),
        st.floats(0.5, 400),
        st.sampled_from(["a", "b", ""]),
        st.lists(st.floats(0, 1), max_size=3).map(sorted),
    ),
    min_size=1,
    max_size=15,
)
MODELS = st.builds(
    EngineModel,
    name=st.just("any"),
    step_s=st.floats(0.001, 0.05),
    turn_s=st.floats(0, 0.01),
    crowd_s=st.floats(0, 0.001),
    context_s=st.floats(0, 1e-6),
    prompt_s=st.floats(0, 1e-4),
    chunk_tokens=st.sampled_from([64, 2_048]),
    max_batch=st.sampled_from([1, 3, 256]),
    kv_tokens=st.sampled_from([600, 6_000, 1_000_000]),
)


def asked(drawn: list[tuple[float, float, float, str, list[float]]]) -> list[tuple[float, Request]]:
    """Each a turn; the ones of one session may overlap, as those of an agent's helpers do."""
    return [
        later(at, turn, answer, prompt, session, [share * answer for share in shares])
        for turn, (at, prompt, answer, session, shares) in enumerate(drawn)
    ]


@settings(max_examples=200, deadline=None)
@given(drawn=REQUESTS, model=MODELS)
def test_no_turn_and_no_token_is_lost_or_given_twice(
    drawn: list[tuple[float, float, float, str, list[float]]], model: EngineModel
) -> None:
    requests = asked(drawn)
    run = Run(model, requests)
    for kind in (Begun, Writes, Finished):
        counted = Counter(one.turn for _, one in run.happened if isinstance(one, kind))
        assert counted == dict.fromkeys(range(len(requests)), 1)
    for at, one in requests:
        marks = [told.mark for _, told in run.happened if isinstance(told, Reached) and told.turn == one.turn]
        assert marks == list(range(len(one.marks)))
        assert at - 1e-9 <= run.times(Begun)[one.turn] <= run.times(Writes)[one.turn] <= run.times(Finished)[one.turn]
        assert run.times(Finished)[one.turn] - at >= model.step_s * one.answer * (1 - 1e-6)
    assert run.engine.produced == pytest.approx(sum(one.answer for _, one in requests), rel=1e-4)
    load = run.engine.load
    assert (load.running, load.waiting) == (0, 0)
    assert run.engine.context == pytest.approx(0.0, abs=1e-3)
    assert run.fullest <= model.kv_tokens + 1e-3


@settings(max_examples=100, deadline=None)
@given(drawn=REQUESTS, model=MODELS, looks_s=st.sampled_from([0.13, 0.5]))
def test_to_look_at_it_changes_nothing(
    drawn: list[tuple[float, float, float, str, list[float]]], model: EngineModel, looks_s: float
) -> None:
    roomy = replace(model, max_batch=256, kv_tokens=1_000_000)  # or whoever is first by a hair has a place
    # and what is left of a prompt when somebody looks takes a whole step
    requests = [(at, replace(one, session=str(one.turn), prompt=0.0)) for at, one in asked(drawn)]
    alone, looked_at = Run(roomy, requests), Run(roomy, requests, looks_s=looks_s)
    for kind in (Begun, Writes, Finished):
        assert alone.times(kind) == pytest.approx(looked_at.times(kind), rel=1e-3, abs=1e-3)
