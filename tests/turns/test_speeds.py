"""What is learned of an engine's steps from what it gives."""

import random

import pytest

from paste_proxy.turns.speeds import Speeds

from .engines import window


def learned(context_s: float, prompt_s: float, windows: int = 200) -> Speeds:
    """Of an engine with these weights, under loads of all kinds."""
    speeds, draw = Speeds(), random.Random(1)
    for _ in range(windows):
        turns, context, beside = draw.uniform(1, 60), draw.uniform(1e4, 5e5), draw.uniform(0, 400)
        token_s = 0.005 + 0.0001 * turns + context_s * context + prompt_s * beside
        seen = window(token_s, turns, prompts=beside / token_s)
        seen.context_s = context
        speeds.learn(seen)
    return speeds


def test_what_a_prompt_costs_is_told_from_what_turns_and_contexts_cost() -> None:
    speeds = learned(context_s=2e-8, prompt_s=3e-5)
    assert speeds.prompt_s == pytest.approx(3e-5, rel=0.05)
    assert speeds.context_s == pytest.approx(2e-8, rel=0.1)


def test_without_the_prompts_beside_it_a_token_takes_as_long_as_turns_and_contexts_have_it() -> None:
    speeds = learned(context_s=0.0, prompt_s=3e-5)
    seen = window(0.005 + 0.0001 * 40 + 3e-5 * 300, 40, prompts=300 / (0.009 + 0.009))
    assert speeds.alone_s(seen) == pytest.approx(0.009, rel=0.05)


def test_contexts_weigh_as_much_as_they_slow_the_engine() -> None:
    assert learned(context_s=0.0, prompt_s=3e-5).gamma(20_000, 30) == pytest.approx(0.0, abs=0.05)
    assert learned(context_s=5e-9, prompt_s=3e-5).gamma(20_000, 30) == pytest.approx(1.0, rel=0.3)


def test_no_weight_is_below_zero_and_an_idle_window_says_nothing() -> None:
    speeds = learned(context_s=0.0, prompt_s=0.0)
    before = speeds.prompt_s
    assert before >= 0.0
    speeds.learn(window(1.0, 0.0))
    assert speeds.prompt_s == before
