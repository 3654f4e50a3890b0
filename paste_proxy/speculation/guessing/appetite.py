"""How many samples a turn is worth: the lambda of Algorithm 2, adapted to hit rate, times and price.

Expected gain in seconds of n samples (Lemma 1): alpha(n) E[min{T, G - g}] - n price. The n with the largest
is asked for; none where none gains, but for a turn now and then that shows whether that still holds.
"""

from collections import deque
from statistics import fmean, median

from paste_proxy.speculation.guessing.counts import Counts
from paste_proxy.speculation.speedup import Step, acceptance

_ALPHA, _PRIOR_WEIGHT = 0.4, 6.0
"""First belief: a small model is right a little less than every other time."""
_GENERATION_S, _GUESS_S, _TOOL_S = 4.0, 1.0, 1.0
"""Before the first turn was timed."""
_RECENT, _RECENT_GUESSES = 64, 16
"""Guesses are timed only where they are asked for, which may be seldom."""
_LEAST_GAIN_S = 0.02
"""A sample that costs no money still takes room in somebody's engine."""
_PROBE_EVERY = 16
"""Of the turns that are not worth a sample, one in so many gets one."""


class Appetite:
    """Learned from recent turns; all in seconds.

    Args:
        most: samples for one turn at most.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._found = [Counts() for _ in range(most)]
        """At n - 1: turns with n or more samples answered, right if one of the first n named the call."""
        self._generations: deque[float] = deque([_GENERATION_S], _RECENT)
        self._guesses: deque[float] = deque([_GUESS_S], _RECENT_GUESSES)
        self._tools: deque[float] = deque([_TOOL_S], _RECENT)
        self._declined = 0

    def generated(self, seconds: float) -> None:
        """The agent's LLM took so long to its first call."""
        self._generations.append(seconds)

    def guessed(self, seconds: float) -> None:
        """A sample took so long, or had not come after so long."""
        self._guesses.append(seconds)

    def ran(self, seconds: float) -> None:
        """A tool took so long."""
        self._tools.append(seconds)

    def judged(self, answered: int, first_right: int | None) -> None:
        """What came of a turn's samples.

        Args:
            answered: how many came in time.
            first_right: the number of the first that named a call of the turn, from 1.
        """
        for number in range(1, min(answered, self._most) + 1):
            self._found[number - 1].add(right=first_right is not None and first_right <= number)

    def alpha(self, samples: int) -> float:
        """Probability that one of so many samples is right."""
        single = self._found[0].posterior(_ALPHA, _PRIOR_WEIGHT)
        if samples <= 1:
            return single if samples else 0.0
        return self._found[samples - 1].posterior(acceptance(single, samples), _PRIOR_WEIGHT)

    def hidden_s(self) -> float:
        """What a right guess takes off a turn, on average over the tools' recent runs."""
        generation, guess = median(self._generations), median(self._guesses)
        steps = (Step(generation_s=generation, guess_s=guess, tool_s=tool) for tool in self._tools)
        return fmean(step.hidden_s for step in steps)

    def samples(self, price_s: float) -> int:
        """How many to ask for.

        Args:
            price_s: of one, as seconds that are worth as much.
        """
        hidden, price = self.hidden_s(), max(price_s, _LEAST_GAIN_S)
        best = max(range(self._most + 1), key=lambda number: self.alpha(number) * hidden - number * price)
        if best:
            return best
        self._declined += 1
        return int(self._declined % _PROBE_EVERY == 0)
