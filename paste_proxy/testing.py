"""Fakes for tests, demos and benchmarks; part of the package so that users can test against them too."""

from collections.abc import Iterable

from paste_proxy.clock import FakeClock
from paste_proxy.events.result import ToolResult
from paste_proxy.events.types import Outcome
from paste_proxy.proxy.ports import AgentCall, Decision, RunIt, ServeIt
from paste_proxy.tools.backend import Backend

__all__ = ["FakeClock", "FakeGate"]


class FakeGate:
    """A `ToolGate` that serves what it was given, by canonical key, and lets everything else run."""

    def __init__(self, ready: dict[str, ToolResult] | None = None) -> None:
        self.ready = ready or {}
        self.asked: list[AgentCall] = []
        self.over: dict[int, ToolResult | None] = {}
        self.offers: dict[tuple[str, str], tuple[Backend, tuple[str, ...]]] = {}

    async def ask(self, call: AgentCall) -> Decision:
        """Serve a ready result once, else run."""
        self.asked.append(call)
        result = self.ready.pop(call.invocation.key, None)
        if result is not None:
            return ServeIt(result=result, outcome=Outcome.REUSED, job=len(self.asked))
        return RunIt(ticket=len(self.asked))

    def ended(self, ticket: int, result: ToolResult | None) -> None:
        """Note the end of a call; a second end of one ticket is an error of the route."""
        if ticket in self.over:
            raise AssertionError(f"ticket {ticket} ended twice")
        self.over[ticket] = result

    def offer(self, scope: str, server: str, backend: Backend, tools: Iterable[str]) -> None:
        """Note an offer."""
        self.offers[scope, server] = (backend, tuple(tools))

    def withdraw(self, scope: str) -> None:
        """Forget a scope's offers."""
        self.offers = {key: offer for key, offer in self.offers.items() if key[0] != scope}
