"""The paper's model against a plain simulation of Algorithm 2, and the three claims of Lemma 1."""

from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from paste_proxy.speculation.speedup import Regime, Step, acceptance, speedup

SECONDS = st.floats(0.001, 1_000)
STEPS = st.builds(Step, generation_s=SECONDS, guess_s=SECONDS, tool_s=SECONDS)
SHARES = st.floats(0, 1)


def simulated(step: Step, hits: list[bool]) -> float:
    """Seconds of a session by Algorithm 2: a map from calls to running tools, looked at when the LLM has called."""
    now = 0.0
    for hit in hits:
        called = now + step.generation_s
        guessed = now + step.guess_s
        cache = {"call" if hit else "another": guessed + step.tool_s} if guessed <= called else {}
        now = max(called, cache["call"]) if "call" in cache else called + step.tool_s
    return now


@given(STEPS, st.lists(st.booleans(), min_size=1, max_size=40))
def test_the_expected_time_is_that_of_the_algorithm(step: Step, hits: list[bool]) -> None:
    alpha = sum(hits) / len(hits)
    assert simulated(step, hits) == pytest.approx(len(hits) * step.expected_s(alpha), rel=1e-6)
    assert step.speedup(alpha) == pytest.approx(simulated(step, [False] * len(hits)) / simulated(step, hits), rel=1e-6)


@given(STEPS, SHARES)
def test_where_the_guess_comes_first_it_is_the_papers_formula(step: Step, alpha: float) -> None:
    g, generation, tool = step.guess_s, step.generation_s, step.tool_s
    assume(g <= generation)
    paper = (generation + tool) / (alpha * max(generation, g + tool) + (1 - alpha) * (generation + tool))
    assert step.speedup(alpha) == pytest.approx(paper, rel=1e-6)


@given(STEPS, SHARES, SHARES)
def test_lemma_1_it_grows_with_alpha_is_most_at_1_and_stays_below_2(step: Step, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert 1.0 <= step.speedup(low) <= step.speedup(high) <= step.speedup(1.0)
    assert step.speedup(1.0) < 2.0
    if step.hidden_s > 0.01 * step.standard_s and high - low > 0.01:
        assert step.speedup(low) < step.speedup(high)


def test_the_bound_of_2_is_approached_by_an_instant_guess_of_a_tool_as_long_as_the_generation() -> None:
    assert Step(generation_s=1, guess_s=1e-9, tool_s=1).speedup(1.0) == pytest.approx(2.0)
    assert Step(generation_s=1, guess_s=0, tool_s=3).speedup(1.0) == pytest.approx(4 / 3)
    assert speedup((), 0.5) == 1.0


@given(st.lists(STEPS, min_size=1, max_size=10), SHARES)
def test_a_session_of_unequal_steps_gains_no_more_than_its_best_step(steps: list[Step], alpha: float) -> None:
    gains = [step.speedup(alpha) for step in steps]
    assert min(gains) * (1 - 1e-9) <= speedup(steps, alpha) <= max(gains) * (1 + 1e-9)


@given(SHARES, st.integers(1, 8))
def test_samples_that_know_nothing_of_each_other_hit_as_every_outcome_counted_says(alpha: float, samples: int) -> None:
    counted = 0.0
    for outcome in product((True, False), repeat=samples):
        chance = 1.0
        for right in outcome:
            chance *= alpha if right else 1 - alpha
        counted += chance * any(outcome)
    assert acceptance(alpha, samples, fresh=1.0) == pytest.approx(counted, abs=1e-9)
    assert acceptance(alpha, samples, fresh=0.0) == pytest.approx(alpha, abs=1e-9)
    assert acceptance(alpha, 0) == 0.0


@pytest.mark.parametrize(
    ("times", "alpha", "regime"),
    [
        ((2.0, 2.0, 1.0), 0.9, Regime.LATE),
        ((2.0, 0.5, 2.0), 0.01, Regime.INACCURATE),
        ((2.0, 0.5, 0.5), 0.6, Regime.SHORT_TOOL),
        ((2.0, 0.5, 2.0), 0.6, Regime.BALANCED),
        ((2.0, 0.5, 9.0), 0.6, Regime.LONG_TOOL),
    ],
)
def test_the_regimes(times: tuple[float, float, float], alpha: float, regime: Regime) -> None:
    assert Step(generation_s=times[0], guess_s=times[1], tool_s=times[2]).regime(alpha) is regime
