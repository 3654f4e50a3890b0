"""What a pool can do without: patterns too weak to speculate on, and contexts that say nothing new."""

from dataclasses import replace

from paste_proxy.mining.contexts import length, parent
from paste_proxy.mining.estimate import BACK_OFF_WEIGHT, Count, lower_bound, posterior
from paste_proxy.mining.infer import LEAST_GROUPS
from paste_proxy.mining.pattern import Pattern
from paste_proxy.mining.pool import Pool

LEAST_CONFIDENCE = 0.05
"""A pattern stays if the lower bound of its rate, in its best context, reaches this."""
_LEAST_SEEN = 8
_LEAST_NEWS = 0.08
"""Probability by which a longer context must move an estimate to be kept."""


def pruned(pool: Pool, least: float = LEAST_CONFIDENCE) -> Pool:
    """The pool without its weak patterns and its idle contexts."""
    kept = [slim for pattern in pool.patterns if (slim := _slim(pattern, least)) is not None]
    kept.sort(key=lambda pattern: (pattern.template.tool, -_support(pattern), pattern.id))
    return replace(pool, patterns=tuple(kept))


def _slim(pattern: Pattern, least: float) -> Pattern | None:
    if pattern.groups < LEAST_GROUPS:
        return None
    strong = [_best(counts) >= least for counts in pattern.ranks]
    if not any(strong):
        return None
    through = len(strong) - strong[::-1].index(True)
    return replace(pattern, ranks=tuple(_telling(counts) for counts in pattern.ranks[:through]))


def _best(counts: dict[str, Count]) -> float:
    return max((lower_bound(count.ever, count.seen) for count in counts.values()), default=0.0)


def _telling(counts: dict[str, Count]) -> dict[str, Count]:
    kept: dict[str, Count] = {}
    for context in sorted(counts, key=lambda context: (length(context), context)):
        count = counts[context]
        if not context or (count.seen >= _LEAST_SEEN and _tells(count, _known(kept, parent(context)))):
            kept[context] = count
    return kept


def _known(kept: dict[str, Count], context: str) -> Count | None:
    while context and context not in kept:
        context = parent(context)
    return kept.get(context)


def _tells(count: Count, shorter: Count | None) -> bool:
    if shorter is None or not shorter.seen:
        return True
    for hits, rate in ((count.next, shorter.next / shorter.seen), (count.ever, shorter.ever / shorter.seen)):
        if abs(posterior(hits, count.seen, rate, BACK_OFF_WEIGHT) - rate) >= _LEAST_NEWS:
            return True
    return False


def _support(pattern: Pattern) -> int:
    return sum(counts[""].ever for counts in pattern.ranks if "" in counts)
