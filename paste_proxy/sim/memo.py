"""Prediction as SpecFaaS does it: which call came after which, both exactly as they were (Stojkovic et al., 2023).

It knows sequences of calls and binds no arguments: what it foresees was asked for, word for word, after the same call
in another task.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence

from paste_proxy.events.candidate import Candidate
from paste_proxy.events.invocation import Invocation
from paste_proxy.sim.course import Course
from paste_proxy.sim.foresight import Foreseen, Moment

_BEGINNING = ""
"""Stands for the call before the first."""


class Memo:
    """The sequences of some sessions."""

    def __init__(self, courses: Sequence[Course]) -> None:
        self._calls: dict[str, Invocation] = {}
        self._after: dict[str, Counter[str]] = defaultdict(Counter)
        for course in courses:
            latest = _BEGINNING
            for call in course.calls:
                invocation = call.recorded.invocation
                self._calls[invocation.key] = invocation
                self._after[latest][invocation.key] += 1
                latest = invocation.key

    def foresee(self, course: Course) -> Foreseen:
        """What it foresees in a session that it does not know."""
        foreseen = Foreseen(watches=False)
        if course.turns:
            foreseen.heard[0] = self._moment(_BEGINNING)
        for number, turn in enumerate(course.turns):
            for order, call in enumerate(turn.calls):
                foreseen.answered[number, order] = self._moment(call.recorded.invocation.key)
        return foreseen

    def _moment(self, latest: str) -> Moment:
        counted = self._after.get(latest, Counter())
        total = counted.total()
        return Moment(
            tuple(
                Candidate(invocation=self._calls[key], confidence=count / total, source="memo")
                for key, count in sorted(counted.items(), key=lambda one: (-one[1], one[0]))
            )
        )
