"""Mode `off`: gates that look at nothing and let everything run."""

from collections.abc import Callable, Iterable, Mapping

from paste_proxy.events.result import ToolResult
from paste_proxy.events.values import Json
from paste_proxy.proxy.admin import Rows
from paste_proxy.proxy.hub.tally import Tally
from paste_proxy.proxy.pattern_rows import Portion
from paste_proxy.proxy.ports import NO_ARGUMENTS, AgentCall, Decision, Pieces, RunIt, TurnTee, Waiting
from paste_proxy.proxy.stats import stats
from paste_proxy.speculation.hints import NO_HINTS, Hints
from paste_proxy.speculation.types import Mode
from paste_proxy.tools.backend import Backend
from paste_proxy.turns.types import Admit


class BlindTurns:
    """An `LlmGate` and the tee it gives: sees nothing."""

    def opened(
        self,
        *,
        wire: str,
        target: str,
        headers: Mapping[str, str],
        body: Pieces | None,
        waiting: Waiting | None = None,
    ) -> TurnTee:
        """See nothing, hold up nothing."""
        if waiting is not None:
            waiting.entry.set_result(Admit(turn=0, waited_s=0.0))
        return self

    def sent(self) -> None:
        """See nothing."""

    def answer(self, status: int, headers: Mapping[str, str]) -> None:
        """See nothing."""

    def chunk(self, data: bytes) -> None:
        """See nothing."""

    def closed(self, *, clean: bool, whole: bool = True) -> None:
        """See nothing."""

    def tunnelled(self) -> Callable[[], None]:
        """See nothing."""
        return lambda: None


class OpenGate:
    """A `ToolGate` that runs every call."""

    async def ask(self, call: AgentCall) -> Decision:
        """Run it."""
        return RunIt(0)

    def ended(self, ticket: int, result: ToolResult | None) -> None:
        """Forget it."""

    def offer(
        self,
        scope: str,
        server: str,
        backend: Backend,
        tools: Iterable[str],
        *,
        session: str | None = None,
        beside: Mapping[str, frozenset[str]] = NO_ARGUMENTS,
        hints: Mapping[str, Hints] = NO_HINTS,
    ) -> None:
        """Decline."""

    def withdraw(self, scope: str) -> None:
        """Nothing was offered."""


class NothingSeen:
    """The read side of a sidecar that only forwards."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally

    def stats(self) -> Mapping[str, Json]:
        """Sums since the start, all zero but for faults."""
        return stats(self._tally, Mode.OFF, sessions=0, exchanges=0)

    def sessions(self) -> Rows:
        """None."""
        return ()

    def patterns(self, portion: Portion) -> tuple[Rows, int]:
        """None."""
        return (), 0

    def policies(self) -> Rows:
        """None."""
        return ()
