"""What to get ready for calls that are likely and are not run ahead (PASTE 4.2: preparation, warm-up).

It goes for calls that no rule lets be run ahead, too, since nothing of a call is sent. But whoever is connected to
learns that one may come, so a destination has to be one that may learn of guesses. What is as it was a moment ago is
not got ready again.
"""

from collections import OrderedDict
from collections.abc import Iterable

from paste_proxy.events.candidate import PreparationHint
from paste_proxy.events.invocation import Invocation
from paste_proxy.speculation.policy import Policy, Ruling
from paste_proxy.speculation.preparation import Need, Preparation
from paste_proxy.speculation.types import Destination, Mode, Reason, Refused

AGAIN_S = 5.0
"""A need is not looked after twice within so long: predictors repeat themselves with every event."""
_REMEMBERED = 1_024
_POINTLESS = (Reason.DUPLICATE, Reason.NOT_EXECUTABLE, Reason.BACKOFF)
"""It runs already, nothing could run it, or its service wants to be left alone."""


class Preparations:
    """Decides what is got ready, and when.

    Args:
        destinations: who may learn of guesses.
        kinds: ways of getting ready where a rule does not say.
        least: probability of a call below which nothing is got ready for it.
    """

    def __init__(
        self, policy: Policy, destinations: frozenset[Destination], kinds: Iterable[Preparation], least: float
    ) -> None:
        self._policy, self._destinations = policy, destinations
        self._kinds, self._least = frozenset(kinds), least
        self._looked_after: OrderedDict[Need, float] = OrderedDict()

    def kinds(self, hint: PreparationHint, *, whole: bool = True) -> frozenset[Preparation]:
        """The ways in which it may be got ready for a call.

        Args:
            whole: the hint's arguments are all there are. Else any rule that names the tool may come to decide, and
                each has to allow it.
        """
        if hint.confidence < self._least:
            return frozenset()
        if whole:
            return self._allowed(self._policy.rule_for(Invocation(hint.tool, hint.known)))
        standing = self._policy.of_tool(hint.tool)
        return frozenset.intersection(*map(self._allowed, standing.rulings or (standing.unknown,)))

    def due(self, needs: Iterable[Need], kinds: frozenset[Preparation], now: float) -> list[Need]:
        """Those of a call's needs that are to be looked after now."""
        found = [need for need in needs if need.kind in kinds and not self._lately(need, now)]
        for need in found:
            self._looked_after[need] = now
            self._looked_after.move_to_end(need)
        while len(self._looked_after) > _REMEMBERED:
            self._looked_after.popitem(last=False)
        return found

    def _lately(self, need: Need, now: float) -> bool:
        at = self._looked_after.get(need)
        return at is not None and now - at < AGAIN_S

    def _allowed(self, ruling: Ruling) -> frozenset[Preparation]:
        rule = ruling.rule
        if rule is not None and rule.mode is not Mode.SPECULATE:
            return frozenset()
        wanted = self._kinds if rule is None or rule.prepare is None else rule.prepare
        return frozenset(kind for kind in wanted if _learns(kind, ruling) in self._destinations)


def _learns(kind: Preparation, ruling: Ruling) -> Destination:
    """Who learns of it: whoever the call would go to, unless it only reads files here."""
    return Destination.LOCAL if kind is Preparation.FILES else ruling.destination


def hint_of(refused: Refused) -> PreparationHint | None:
    """What a candidate that is not run ahead says of a call that may come; None where nothing can be done for it."""
    if refused.reason in _POINTLESS:
        return None
    invocation = refused.invocation
    return PreparationHint(
        tool=invocation.tool, known=invocation.arguments, confidence=refused.confidence, source=refused.source
    )
