"""The results that were run ahead and wait to be asked for."""

from collections.abc import Iterator

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status, ToolResult
from paste_proxy.speculation.types import Launch
from paste_proxy.wire.next_request import told_as


def text_of(result: ToolResult) -> str:
    """The text that agents tell a result as: of an MCP result its texts, of any other what they were given."""
    value = result.value()
    if isinstance(value, dict) and isinstance(value.get("content"), list):
        return told_as(value)
    return value if isinstance(value, str) else result.body.decode("utf-8", "replace")


class ReadyResults:
    """By session; as many as the ledger holds."""

    def __init__(self) -> None:
        self._of: dict[str, dict[int, tuple[Invocation, ToolResult]]] = {}

    def ended(self, job: Launch, result: ToolResult | None) -> None:
        """A job has come to its end."""
        if result is not None and result.status is Status.OK and not job.staged and not job.rehearsal:
            self._of.setdefault(job.session, {})[job.job] = (job.invocation, result)

    def settled(self, session: str, job: int) -> None:
        """It was asked for, or is worth nothing any more."""
        jobs = self._of.get(session)
        if jobs is not None and jobs.pop(job, None) is not None and not jobs:
            del self._of[session]

    def find(self, session: str, invocation: Invocation) -> ToolResult | None:
        """The result of that call."""
        return next((result for asked, result in self.of(session) if asked == invocation), None)

    def of(self, session: str) -> Iterator[tuple[Invocation, ToolResult]]:
        """All of a session."""
        yield from self._of.get(session, {}).values()
