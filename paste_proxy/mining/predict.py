"""Online prediction: late binding of the pool's patterns and models to one live session (PASTE 4.1)."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest

from paste_proxy.events.candidate import FORECAST, NARROWED, Candidate
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.outline import Outline
from paste_proxy.events.types import Event, UserMessage
from paste_proxy.mining.completions import Completion, shares
from paste_proxy.mining.contexts import suffixes
from paste_proxy.mining.forecast.adaptation import Adaptation
from paste_proxy.mining.forecast.habits import Habit
from paste_proxy.mining.forecast.hindsight import Hindsight, Judged
from paste_proxy.mining.forecast.model import Foreseen
from paste_proxy.mining.odds import Odds
from paste_proxy.mining.outlook import worth
from paste_proxy.mining.pattern import Pattern
from paste_proxy.mining.pool import Pool
from paste_proxy.mining.prediction import Prediction
from paste_proxy.mining.templates import bindings
from paste_proxy.mining.window import CALL, Window

LEAST_CONFIDENCE = 0.01
"""Below this a candidate is not worth mentioning."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A bound invocation and what its best pattern says of it."""

    invocation: Invocation
    odds: Odds
    pattern: Pattern


class Predictor:
    """Follows one session. Bounded: it holds the last `window` observations and nothing else of it.

    Only tools that `executable` names are predicted, so that others take no candidate's place.
    """

    def __init__(
        self,
        pool: Pool,
        *,
        window: int = 64,
        candidates: int = 8,
        executable: Callable[[str], bool] = lambda tool: True,
        adaptation: Adaptation | None = None,
    ) -> None:
        self._pool = pool if adaptation is None else adaptation.pool
        self._adaptation = adaptation
        self._hindsight = None if adaptation is None else Hindsight(adaptation)
        self._window = Window(window)
        self._candidates = candidates
        self._executable = executable

    def follow(self, event: Event) -> None:
        """Take an event of the past, after which nothing is to be predicted."""
        self._window.step(event)
        if self._hindsight is not None:
            self._hindsight.see(event, past=True)

    def step(self, event: Event) -> Prediction:
        """Take the session's next event; candidates are distinct, the likeliest next call first."""
        if self._hindsight is not None:
            self._hindsight.see(event)
        if not self._window.step(event):
            return Prediction()
        judged = Judged()
        prediction = self._now(self._window, judged)
        if self._hindsight is not None:
            self._hindsight.judge(self._window, judged)
        return prediction

    def look_ahead(self) -> None:
        """There is time: get ready for the answer of the call that the session waits for.

        What can be come upon without it is, in the context that is likely then; it lasts.
        """
        with self._window.rehearsal():
            ranked(self._pool, self._window, self._candidates, self._executable)
            for model in self._pool.models:
                model.finder.look_ahead(self._window, self._unknown if model.general else self._executable)

    def end(self) -> None:
        """The session is over: what did not come will not."""
        if self._hindsight is not None:
            self._hindsight.end()

    def suppose(self, past: Sequence[Event], latest: Event) -> Prediction:
        """What would be predicted if these happened next; the session stays as it is."""
        fork = self._window.fork()
        for event in past:
            fork.step(event)
        return self._now(fork, Judged()) if fork.step(latest) else Prediction()

    def narrow(self, outline: Outline, beside: Collection[str] = ()) -> Prediction:
        """What the call that the LLM is writing may come to be; the session stays as it is.

        Args:
            beside: keys of the calls that its turn asks for beside it.
        """
        expected = self._pool.outlook.expected(suffixes(self._window.context()))
        of_tool = [one for one in expected if one.pattern.template.tool == outline.tool]
        found = shares(of_tool, self._window, outline, beside)
        habits = self._habits(self._window)
        for model in self._pool.models:
            if not (model.general and outline.tool in self._pool.weighed):
                found += model.narrow(self._window, outline, beside, habits)
        facts = self._pool.tools.get(outline.tool)
        expected_s = facts.median_s if facts else None
        return Prediction(
            tuple(
                Candidate(
                    invocation=one.invocation,
                    confidence=one.share,
                    source=NARROWED,
                    expected_s=expected_s,
                    later=min(one.share, one.later),
                )
                for one in _likeliest(found)[: self._candidates]
                if one.share >= LEAST_CONFIDENCE
            )
        )

    def _now(self, window: Window, judged: Judged) -> Prediction:
        """The best of the patterns and of each model; of an invocation that several give, the likelier."""
        found: dict[str, tuple[float, Candidate]] = {}
        for worth_, candidate in self._each(window, judged):
            known = found.get(candidate.invocation.key)
            if candidate.confidence >= LEAST_CONFIDENCE and (known is None or worth_ > known[0]):
                found[candidate.invocation.key] = worth_, candidate
        ordered = sorted(found.items(), key=lambda one: (-one[1][0], one[0]))
        return Prediction(tuple(candidate for _, (_, candidate) in ordered[: self._candidates]))

    def _each(self, window: Window, judged: Judged) -> Iterable[tuple[float, Candidate]]:
        for one in ranked(self._pool, window, self._candidates, self._executable):
            corrected = self._corrected(one)
            judged.patterns.append((one.pattern.id, one.invocation.key, corrected.odds))
            yield worth(corrected.odds), self._candidate(corrected)
        habits = self._habits(window)
        for model in self._pool.models:
            if model.general and self._at_home(window, habits):
                continue
            weighed = model.weigh(window, self._unknown if model.general else self._executable, habits)
            judged.models.append((model, weighed))
            for one_ in weighed[: self._candidates]:
                foreseen = model.foreseen(one_)
                yield foreseen.next, self._foreseen(foreseen)

    def _habits(self, window: Window) -> Sequence[Habit]:
        return () if self._hindsight is None else self._hindsight.habits(window)

    def _unknown(self, tool: str) -> bool:
        return tool not in self._pool.weighed and self._executable(tool)

    def _at_home(self, window: Window, habits: Iterable[Habit]) -> bool:
        """Whether every tool in view is known to a model that was mined with it."""
        known = self._pool.weighed
        return all(seen.tool in known for seen in window.observations if seen.kind == CALL) and all(
            habit.invocation.tool in known for habit in habits
        )

    def _corrected(self, one: Scored) -> Scored:
        if self._adaptation is None:
            return one
        return replace(one, odds=self._adaptation.odds(one.pattern.id, one.odds))

    def _candidate(self, one: Scored) -> Candidate:
        next_, ever = one.odds
        confidence = self._pool.calibration(one.pattern.calibration(ever))
        return Candidate(
            invocation=one.invocation,
            confidence=confidence,
            later=confidence * (1 - next_ / ever),
            source=one.pattern.id,
            expected_s=self._expected_s(one.invocation),
        )

    def _foreseen(self, one: Foreseen) -> Candidate:
        return Candidate(
            invocation=one.invocation,
            confidence=one.ever,
            later=one.ever - one.next,
            source=one.pattern or FORECAST,
            expected_s=self._expected_s(one.invocation),
        )

    def _expected_s(self, invocation: Invocation) -> float | None:
        facts = self._pool.tools.get(invocation.tool)
        return facts.median_s if facts else None


def warm(pool: Pool) -> None:
    """Build what a pool builds on first use, so that the first session need not wait for it."""
    Predictor(pool).step(UserMessage(session="", ts=None, text=""))
    for model in pool.models:
        for slot in model.finder.arguments.slots.values():
            slot.warm()


def _likeliest(found: Iterable[Completion]) -> list[Completion]:
    best: dict[str, Completion] = {}
    for one in found:
        known = best.get(one.invocation.key)
        if known is None or one.share > known.share:
            best[one.invocation.key] = one
    return sorted(best.values(), key=lambda one: (-one.share, one.invocation.key))


def ranked(
    pool: Pool, window: Window, most: int, executable: Callable[[str], bool] = lambda tool: True
) -> list[Scored]:
    """The `most` likeliest of the distinct invocations its patterns predict now, the likeliest next call first."""
    best: dict[str, tuple[float, Invocation, Odds, Pattern]] = {}
    least = -1.0
    for expected in pool.outlook.expected(suffixes(window.context())):
        if expected.worth < least:
            break
        pattern = expected.pattern
        if not executable(pattern.template.tool):
            continue
        worths = [worth(odds) for odds in expected.odds]
        while worths[-1] < least:
            worths.pop()
        is_better = False
        for invocation, odds, worth_ in zip(
            bindings(pattern.template, window, len(worths)), expected.odds, worths, strict=False
        ):
            known = best.get(invocation.key)
            if known is None or worth_ > known[0]:
                best[invocation.key] = worth_, invocation, odds, pattern
                is_better = True
        if is_better and len(best) >= most:
            least = nlargest(most, [one[0] for one in best.values()])[-1]
    ordered = sorted(best.items(), key=lambda one: (-one[1][0], one[0]))
    return [Scored(invocation, odds, pattern) for _, (_, invocation, odds, pattern) in ordered[:most]]
