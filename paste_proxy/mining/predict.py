"""Online prediction: late binding of the pool's patterns and models to one live session (PASTE 4.1)."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from heapq import nlargest
from itertools import islice

from paste_proxy.events.candidate import FORECAST, NARROWED, Candidate
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.outline import Outline
from paste_proxy.events.types import Event, TurnStarted, UserMessage
from paste_proxy.mining.completions import Completion, shares
from paste_proxy.mining.contexts import suffixes
from paste_proxy.mining.extent import LONGEST_CALL, exceeds
from paste_proxy.mining.forecast.adaptation import Adaptation
from paste_proxy.mining.forecast.habits import Habit
from paste_proxy.mining.forecast.hindsight import Hindsight, Judged
from paste_proxy.mining.forecast.model import Foreseen, Weighed
from paste_proxy.mining.outlook import worth
from paste_proxy.mining.pool import Pool
from paste_proxy.mining.prediction import Barred, Prediction
from paste_proxy.mining.ranked import Scored, ranked
from paste_proxy.mining.window import CALL, Window

LEAST_CONFIDENCE = 0.01
"""Below this a candidate is not worth mentioning."""
_LOOKED_AT = 4
"""Times the candidates that there are places for: of what is weighed no more is judged."""
_MOST_BARRED = 4


class Predictor:
    """Follows one session. Bounded: it holds the last `window` observations and nothing else of it.

    Only tools that `executable` names are predicted, so that others take no candidate's place. Nor does what is
    `barred`: it is glimpsed when there is time, and nothing that follows from it is looked for.
    """

    def __init__(
        self,
        pool: Pool,
        *,
        window: int = 64,
        candidates: int = 8,
        executable: Callable[[str], bool] = lambda tool: True,
        barred: Barred | None = None,
        adaptation: Adaptation | None = None,
    ) -> None:
        self._pool = pool if adaptation is None else adaptation.pool
        self._adaptation = adaptation
        self._hindsight = None if adaptation is None else Hindsight(adaptation)
        self._window = Window(window)
        self._candidates = candidates
        self._executable, self._barred = executable, barred
        self._latest: Judged | None = None
        """What was judged at the moment that the window is at, until it was glimpsed what else is likely then."""

    def follow(self, event: Event) -> None:
        """Take an event of the past, after which nothing is to be predicted."""
        self._latest = None
        self._window.step(event)
        if self._hindsight is not None:
            self._hindsight.see(event, past=True)

    def step(self, event: Event) -> Prediction:
        """Take the session's next event; candidates are distinct, the likeliest next call first."""
        if self._hindsight is not None:
            self._hindsight.see(event)
        if isinstance(event, TurnStarted):  # the moment is as it was
            return Prediction()
        self._latest = None
        if not self._window.step(event):
            return Prediction()
        judged = self._latest = Judged()
        prediction = self._now(self._window, judged)
        if self._hindsight is not None:
            self._hindsight.judge(self._window, judged)
        return prediction

    def glimpse(self) -> Sequence[Candidate]:
        """What is as likely as what the latest step gave and must not be run ahead, the likeliest first; at most 4, and
        told once."""
        latest, self._latest = self._latest, None
        if self._barred is None or latest is None:
            return ()
        found: dict[str, Candidate] = {}
        for one in self._barred_now(self._barred, latest):
            known = found.get(one.invocation.key)
            if one.confidence >= self._barred.least and (known is None or one.confidence > known.confidence):
                found[one.invocation.key] = one
        return nlargest(_MOST_BARRED, found.values(), key=lambda one: one.confidence)

    def look_ahead(self) -> None:
        """There is time: get ready for the answer of the call that the session waits for.

        What can be come upon without it is, in the context that is likely then; it lasts.
        """
        with self._window.rehearsal():
            ranked(self._pool, self._window, self._candidates, self._executable, self._runs)
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
        if exceeds(outline.known, LONGEST_CALL):
            return Prediction()
        if self._barred is not None and self._barred.tool(outline.tool):
            return Prediction()
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
                for one in islice(filter(self._may_come, _likeliest(found)), self._candidates)
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
        for one in ranked(self._pool, window, self._candidates, self._executable, self._runs):
            corrected = self._corrected(one)
            judged.patterns.append((one.pattern.id, one.invocation.key, corrected.odds))
            yield worth(corrected.odds), self._candidate(corrected)
        habits = self._habits(window)
        for model in self._pool.models:
            if model.general and self._at_home(window, habits):
                continue
            weighed = model.weigh(window, self._unknown if model.general else self._executable, habits)
            judged.models.append((model, weighed))
            for one_ in islice(self._of(weighed, self._runs), self._candidates):
                foreseen = model.foreseen(one_)
                yield foreseen.next, self._foreseen(foreseen)

    def _of(self, weighed: Sequence[Weighed], wanted: Callable[[Invocation], bool]) -> Iterator[Weighed]:
        """The likeliest of what was weighed that are wanted."""
        return (one for one in weighed[: _LOOKED_AT * self._candidates] if wanted(one[1].invocation))

    def _barred_now(self, barred: Barred, judged: Judged) -> Iterator[Candidate]:
        window = self._window
        for scored in ranked(self._pool, window, _MOST_BARRED, wanted=barred.call):
            yield self._candidate(self._corrected(scored))
        for model, weighed in judged.models:
            for one in islice(self._of(weighed, barred.call), _MOST_BARRED):
                yield self._foreseen(model.foreseen(one))
            tools = self._barred_and_unknown if model.general else barred.tool
            for foreseen in model.glimpse(window, tools, barred.least):
                yield self._foreseen(foreseen)

    def _runs(self, invocation: Invocation) -> bool:
        return self._barred is None or not self._barred.call(invocation)

    def _may_come(self, one: Completion) -> bool:
        return one.share >= LEAST_CONFIDENCE and self._runs(one.invocation)

    def _barred_and_unknown(self, tool: str) -> bool:
        return self._barred is not None and tool not in self._pool.weighed and self._barred.tool(tool)

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
