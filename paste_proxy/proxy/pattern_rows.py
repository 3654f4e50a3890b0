"""`/paste/v1/patterns`: each pattern as people and the page read it, in portions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paste_proxy.events.values import Json
from paste_proxy.mining.estimate import lower_bound
from paste_proxy.mining.notation import written_template
from paste_proxy.mining.odds import Odds
from paste_proxy.mining.pattern import Pattern
from paste_proxy.mining.words import context_in_words, mapper_in_words
from paste_proxy.proxy.hub.pattern_tally import PatternTally

_CONTEXTS = 3
_TURNED = 0.7
"""Log odds by which a pattern counts as promoted or demoted: twice the odds, or half of them."""


@dataclass(frozen=True, slots=True)
class Portion:
    """Which patterns are asked for."""

    tool: str | None = None
    """Those of this tool alone."""
    limit: int = 100
    """At most so many."""
    offset: int = 0

    def of(self, patterns: Sequence[Pattern]) -> tuple[Sequence[Pattern], int]:
        """These, and how many there are in all portions."""
        wanted = [one for one in patterns if self.tool in (None, one.template.tool)]
        return wanted[self.offset : self.offset + self.limit], len(wanted)


def pattern_row(pattern: Pattern, learned: Odds, came: PatternTally) -> Mapping[str, Json]:
    """One pattern.

    Args:
        learned: log odds that sessions have added to its own: to come at once, and within the horizon.
        came: what became of its candidates here.
    """
    counts = pattern.ranks[0] if pattern.ranks else {}
    best = sorted(counts.items(), key=lambda one: (-lower_bound(one[1].ever, one[1].seen), one[0]))
    whole = counts.get("")
    written = written_template(pattern.template)
    arguments = written.get("arguments")
    next_, ever = learned
    return {
        "id": pattern.id,
        "tool": pattern.template.tool,
        "groups": pattern.groups,
        "repeat": bool(written.get("repeat")),
        "arguments": arguments,
        "in_words": {name: mapper_in_words(one) for name, one in _tables(arguments).items()},
        "contexts": [
            {
                "context": context,
                "in_words": context_in_words(context),
                "seen": count.seen,
                "next": count.next,
                "ever": count.ever,
            }
            for context, count in best[:_CONTEXTS]
        ],
        "support": whole.seen if whole else sum(count.seen for count in counts.values()),
        "confidence": best[0][1].ever / best[0][1].seen if best and best[0][1].seen else 0.0,
        "weighed": pattern.weighed,
        "learned": {
            "next": next_,
            "ever": ever,
            "state": "demoted" if ever <= -_TURNED else "promoted" if ever >= _TURNED else None,
        },
        "hits": came.hits,
        "vain": came.vain,
        "last_hit": came.last_hit,
    }


def _tables(value: Json) -> dict[str, dict[str, Json]]:
    found = value.items() if isinstance(value, dict) else ()
    return {name: one for name, one in found if isinstance(one, dict)}
