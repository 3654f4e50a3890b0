"""The paper's model of speculation worked out for one user's figures: given, or taken from recorded sessions."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from paste_proxy.bench.steps import RecordedStep
from paste_proxy.events.values import Json
from paste_proxy.speculation.speedup import FRESH, Regime, Step, acceptance, speedup

SAMPLES = (1, 2, 3, 5, 9)
"""Numbers of samples shown beside each other; the paper goes to nine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What the model is worked out from."""

    steps: tuple[Step, ...]
    """One for the means, or all that were recorded; never none."""
    alphas: tuple[float, ...]
    """The share of right guesses with 1, 2, ... samples, as far as it was measured; at least with one."""
    samples: int = 1
    fresh: float = FRESH
    cost: float = 0.0
    """Of one sample, as a share of what a turn of the agent's LLM costs."""

    def alpha(self, samples: int) -> float:
        """The share of right guesses with so many samples: measured, else by `acceptance` from that with one."""
        if samples <= len(self.alphas):
            return self.alphas[samples - 1]
        return max(self.alphas[-1], acceptance(self.alphas[0], samples, self.fresh))

    @property
    def mean(self) -> Step:
        """The step of mean times."""
        return Step(
            generation_s=fmean(step.generation_s for step in self.steps),
            guess_s=fmean(step.guess_s for step in self.steps),
            tool_s=fmean(step.tool_s for step in self.steps),
        )


def worked_out(figures: Figures) -> dict[str, Json]:
    """Every figure of the model; times in seconds, shares from 0 to 1."""
    mean, alpha = figures.mean, figures.alpha(figures.samples)
    factor = speedup(figures.steps, alpha)
    by_samples: list[Json] = [
        {
            "samples": samples,
            "alpha": round(figures.alpha(samples), 4),
            "speedup": round(speedup(figures.steps, figures.alpha(samples)), 4),
            "cost_increase": round(samples * figures.cost, 4),
        }
        for samples in sorted({*SAMPLES, figures.samples})
    ]
    return {
        "steps": len(figures.steps),
        "generation_s": round(mean.generation_s, 4),
        "guess_s": round(mean.guess_s, 4),
        "tool_s": round(mean.tool_s, 4),
        "samples": figures.samples,
        "alpha": round(alpha, 4),
        "speedup": round(factor, 4),
        "time_saved": round(1 - 1 / factor, 4),
        "speedup_of_means": round(mean.speedup(alpha), 4),
        "speedup_most": round(speedup(figures.steps, 1.0), 4),
        "hidden_s": round(fmean(step.hidden_s for step in figures.steps), 4),
        "cost_increase": round(figures.samples * figures.cost, 4),
        "regime": mean.regime(alpha).value,
        "by_samples": by_samples,
    }


def timed(
    recorded: Sequence[RecordedStep], guess_s: float, generation_s: float | None, tool_s: float | None
) -> tuple[Step, ...]:
    """The recorded steps whose times are known; a time that is given stands in place of those recorded."""
    steps = []
    for one in recorded:
        generation = one.generation_s if generation_s is None else generation_s
        tool = one.tool_s if tool_s is None else tool_s
        if generation is not None and tool is not None:
            steps.append(Step(generation_s=generation, guess_s=guess_s, tool_s=tool))
    return tuple(steps)


def hit_rates(recorded: Sequence[RecordedStep], most: int) -> tuple[float, ...]:
    """The share of steps foreseen by the first, by one of the first two, ... candidates."""
    ranks = [step.rank for step in recorded]
    return tuple(
        sum(rank is not None and rank <= number for rank in ranks) / len(ranks) for number in range(1, most + 1)
    )


MEANING = {
    Regime.LATE: "g >= G: the guess comes no sooner than the call, and nothing is hidden",
    Regime.INACCURATE: "alpha -> 0: guesses are hardly ever right, and only cost",
    Regime.SHORT_TOOL: "T << G: tools are hidden whole, but they are little of the time",
    Regime.BALANCED: "T ~ G: a tool runs as long as the LLM thinks; here speculation gains most, up to 2x",
    Regime.LONG_TOOL: "T >> G: tools outlast the LLM, and only its time G - g is hidden",
}
"""The paper's regimes, each in a line."""
