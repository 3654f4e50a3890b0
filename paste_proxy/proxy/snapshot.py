"""The hub's state as people and the page read it."""

from collections.abc import Callable, Mapping

from paste_proxy.events.values import Json
from paste_proxy.mining.odds import Odds
from paste_proxy.mining.pool import Pool
from paste_proxy.proxy.admin import Rows
from paste_proxy.proxy.hub.pattern_tally import PatternTally
from paste_proxy.proxy.hub.sessions import Sessions
from paste_proxy.proxy.hub.tally import Tally
from paste_proxy.proxy.pattern_rows import Portion, pattern_row
from paste_proxy.proxy.stats import rounded, stats
from paste_proxy.speculation.policy import Policy
from paste_proxy.speculation.types import Mode


class HubSnapshot:
    """Read side of the parts that the hub's task owns; reads between two of its items.

    Args:
        learned_of: log odds that sessions have added to a pattern's own.
    """

    def __init__(
        self,
        *,
        mode: Mode,
        tally: Tally,
        sessions: Sessions,
        pool: Pool,
        policy: Policy,
        exchanges: Callable[[], int] = lambda: 0,
        learned_of: Callable[[str], Odds] = lambda pattern: (0.0, 0.0),
    ) -> None:
        self._mode, self._tally, self._sessions = mode, tally, sessions
        self._pool, self._policy, self._exchanges = pool, policy, exchanges
        self._learned_of = learned_of

    def stats(self) -> Mapping[str, Json]:
        """Sums since the start."""
        return stats(self._tally, self._mode, sessions=len(self._sessions), exchanges=self._exchanges())

    def sessions(self) -> Rows:
        """The live sessions, latest seen last."""
        return [
            {
                "session": session.id,
                "turns": session.turn,
                "tool_calls": session.tool_calls,
                "llm_s": rounded(session.llm_s),
                "exposed_s": rounded(session.exposed_s),
                "saved_s": rounded(session.saved_s),
                "age_s": rounded(session.seen - session.started),
            }
            for session in self._sessions
        ]

    def patterns(self, portion: Portion) -> tuple[Rows, int]:
        """The patterns in use that are asked for, and how many there are in all portions."""
        some, total = portion.of(self._pool.patterns)
        came = self._tally.patterns
        rows = [pattern_row(one, self._learned_of(one.id), came.get(one.id, PatternTally())) for one in some]
        return [{key: rounded(value) for key, value in row.items()} for row in rows], total

    def policies(self) -> Rows:
        """The policy rules in the order they are tried."""
        return [
            {
                "place": rule.place,
                "tools": [f"{glob.server}/{glob.name}" if glob.server else glob.name for glob in rule.tools],
                "effect": rule.effect,
                "speculate": rule.speculate,
            }
            for rule in self._policy.rules
        ]
