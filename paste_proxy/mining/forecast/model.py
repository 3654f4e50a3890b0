"""What forecasting goes by, and how it forecasts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from heapq import nlargest
from math import exp

from paste_proxy.events.invocation import Invocation
from paste_proxy.mining.contexts import outcome, suffixes
from paste_proxy.mining.forecast.arguments import Arguments
from paste_proxy.mining.forecast.choice import Choice
from paste_proxy.mining.forecast.recall import recall
from paste_proxy.mining.forecast.situation import cues
from paste_proxy.mining.forecast.traits import Seen, Trait, traits
from paste_proxy.mining.outlook import Outlook
from paste_proxy.mining.predict import bindings
from paste_proxy.mining.window import Window

_TOOLS = 8
_LEAST_TOOL = 0.01
_OF_TOOL = 8
_FREQUENT = 8
NONE = "none"
"""The trait of the alternative that none of what was found comes next."""


@dataclass(frozen=True)
class Finder:
    """Where possible next calls are come upon."""

    choice: Choice
    frequent: Mapping[str, Invocation]
    """The labels of the choice that are invocations, by key."""
    arguments: Arguments
    outlook: Outlook

    def find(
        self, window: Window, executable: Callable[[str], bool] = lambda tool: True
    ) -> list[tuple[Seen, list[Trait]]]:
        """The distinct invocations that may come next, and their traits."""
        told = cues(window)
        own = self.choice.probabilities(told)
        tools: dict[str, float] = {}
        for label, probability in own.items():
            if label:
                tool = self.frequent[label].tool if label in self.frequent else label
                tools[tool] = tools.get(tool, 0.0) + probability
        found: dict[str, Seen] = {}

        def seen(invocation: Invocation) -> Seen:
            known = found.get(invocation.key)
            if known is None:
                known = found[invocation.key] = Seen(invocation, frequent=invocation.key in self.frequent)
            return known

        for tool in nlargest(_TOOLS, tools, key=lambda tool: tools[tool]):
            if tools[tool] < _LEAST_TOOL or not executable(tool):
                continue
            for rank, (odds, invocation) in enumerate(self.arguments.likely(tool, window, _OF_TOOL)):
                one = seen(invocation)
                one.argued, one.rank = odds, rank
        labels = [key for key in own if key in self.frequent and executable(self.frequent[key].tool)]
        for key in nlargest(_FREQUENT, labels, key=lambda key: own[key]):
            seen(self.frequent[key]).chosen = own[key]
        for expected in self.outlook.expected(suffixes(window.context())):
            if not executable(expected.pattern.template.tool):
                continue
            bound = bindings(expected.pattern.template, window, len(expected.odds))
            for invocation, (next_, ever) in zip(bound, expected.odds, strict=False):
                one = seen(invocation)
                one.next, one.votes = max(one.next, next_), one.votes + 1
                if ever > one.ever:
                    one.ever, one.pattern = ever, expected.pattern.id
        past = recall(window)
        for invocation in past.invocations.values():
            if executable(invocation.tool):
                seen(invocation)
        last = outcome(window.context()[-1])
        return [(one, traits(one, tools, own, past, last)) for one in found.values()]


@dataclass(frozen=True, slots=True)
class Foreseen:
    """A possible next call."""

    invocation: Invocation
    next: float
    """Probability to be asked for in the next turn."""
    ever: float
    """Within the horizon."""
    source: str


@dataclass(frozen=True)
class Model:
    """A finder and the weights of its traits: a softmax over what it finds and `NONE`, and a sigmoid for later."""

    finder: Finder
    next: Mapping[str, float]
    ever: Mapping[str, float]

    def foresee(
        self, window: Window, most: int, executable: Callable[[str], bool] = lambda tool: True
    ) -> list[Foreseen]:
        """The `most` likeliest next calls, the likeliest first."""
        scored = [(_score(self.next, speaking), one, speaking) for one, speaking in self.finder.find(window, executable)]
        scored.sort(key=lambda one: (-one[0], one[1].invocation.key))
        none = self.next.get(NONE, 0.0)
        highest = max(none, scored[0][0]) if scored else none
        whole = exp(none - highest) + sum(exp(score - highest) for score, _, _ in scored)
        found = []
        for score, one, speaking in scored[:most]:
            next_ = exp(score - highest) / whole
            ever = _sigmoid(_score(self.ever, speaking))
            found.append(Foreseen(one.invocation, next_, max(next_, ever), one.pattern))
        return found


def _score(weights: Mapping[str, float], speaking: list[Trait]) -> float:
    return sum(weights.get(name, 0.0) * value for name, value in speaking)


def _sigmoid(score: float) -> float:
    return 1 / (1 + exp(-max(-30.0, min(30.0, score))))
