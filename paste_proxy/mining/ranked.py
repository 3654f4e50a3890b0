"""What a pool's patterns, bound to a session's values, predict now: the likeliest of it."""

from collections.abc import Callable
from dataclasses import dataclass
from heapq import nlargest

from paste_proxy.events.invocation import Invocation
from paste_proxy.mining.contexts import suffixes
from paste_proxy.mining.odds import Odds
from paste_proxy.mining.outlook import worth
from paste_proxy.mining.pattern import Pattern
from paste_proxy.mining.pool import Pool
from paste_proxy.mining.templates import bindings
from paste_proxy.mining.window import Window


@dataclass(frozen=True, slots=True)
class Scored:
    """A bound invocation and what its best pattern says of it."""

    invocation: Invocation
    odds: Odds
    pattern: Pattern


def ranked(
    pool: Pool,
    window: Window,
    most: int,
    executable: Callable[[str], bool] = lambda tool: True,
    wanted: Callable[[Invocation], bool] = lambda invocation: True,
) -> list[Scored]:
    """The `most` likeliest of the distinct invocations its patterns predict now, the likeliest next call first.

    Args:
        executable: tools that are looked at.
        wanted: which of their invocations count.
    """
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
            if (known is None or worth_ > known[0]) and wanted(invocation):
                best[invocation.key] = worth_, invocation, odds, pattern
                is_better = True
        if is_better and len(best) >= most:
            least = nlargest(most, [one[0] for one in best.values()])[-1]
    ordered = sorted(best.items(), key=lambda one: (-one[1][0], one[0]))
    return [Scored(invocation, odds, pattern) for _, (_, invocation, odds, pattern) in ordered[:most]]
