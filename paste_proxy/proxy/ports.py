"""What the routes and the hub are to each other.

Routes move bytes and never decide; the hub decides and never moves bytes. A route goes on without the
hub: `observe` calls raise nothing, and an `ask` that fails inside answers `RunIt`.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol, TypeAlias

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult
from paste_proxy.events.types import Outcome
from paste_proxy.events.values import Json
from paste_proxy.speculation.hints import NO_HINTS, Hints
from paste_proxy.tools.backend import Backend
from paste_proxy.turns.types import Command as Entry

NO_ARGUMENTS: Mapping[str, frozenset[str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCall:
    """An authoritative call as a tool route sees it."""

    invocation: Invocation
    scope: str = ""
    """The connection it came through: an MCP client session, an SDK socket; empty for configured tools."""
    session: str | None = None
    """The agent session, where the request names it."""
    call_id: str | None = None
    """The LLM's id of this call, where the client passes it on."""
    alone: bool = False
    """What was run ahead is of use only if the call's turn asks for nothing else."""
    ahead: bool = True
    """Whether anything may be run ahead for its session from now on."""


@dataclass(frozen=True, slots=True)
class RunIt:
    """Run the call normally and report its end with `ToolGate.ended(ticket, ...)`, exactly once."""

    ticket: int


@dataclass(frozen=True, slots=True)
class ServeIt:
    """Answer the call with this result, in the form of the live request."""

    result: ToolResult
    outcome: Outcome
    job: int


Decision: TypeAlias = RunIt | ServeIt


class ToolGate(Protocol):
    """Where a tool route consults the hub."""

    async def ask(self, call: AgentCall) -> Decision:
        """Run or serve. Waits while a running speculative job is promoted; cancelling the wait is safe."""

    def ended(self, ticket: int, result: ToolResult | None) -> None:
        """The call of that ticket was answered; None: it broke or was abandoned, its effect unknown."""

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
        """These tools (identities) can be run speculatively through `backend` for calls of `scope`.

        Offering again for the same scope and server replaces the earlier offer.

        Args:
            session: the agent session whose connection this is, where it is known before its first call.
            beside: per tool, arguments that some clients add for themselves and that it takes no notice of;
                calls that differ in these alone are the same.
            hints: per tool, what the server says of it.
        """

    def withdraw(self, scope: str) -> None:
        """The connection is gone: nothing of its scope can be run or served any more."""


Pieces: TypeAlias = Sequence[bytes]
"""A body as it came; joining a large one would hold up the loop."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Again:
    """A request of a route that asks for more, so that another like it can be sent."""

    target: str
    headers: tuple[tuple[str, str], ...]
    """With the client's keys."""
    proxy: str | None
    body: bytes
    warm_up: bool
    """Whether the engine is sent the next request before the agent sends it."""
    tool_cache: bool
    """Whether the engine is given tools' outputs that were run ahead."""


@dataclass(slots=True, eq=False)
class Waiting:
    """A turn that stands before a gate."""

    gate: str
    """Its name: of an engine, or of a key whose limits are kept."""
    bytes: int
    """Of the request."""
    entry: "asyncio.Future[Entry]"
    """`Admit` or `TurnAway`, set once, by whatever decides."""
    patience_s: float | None = None
    """After so long it is to be turned away."""
    stream: bool = False
    """Whether it asks for an event stream, once it has been read."""
    tells: bool = False
    """Whether the engine is told what it is worth, for which it has to be read before it goes."""
    worth: dict[str, Json] = field(default_factory=dict)
    """What the engine's own scheduler may be told of it, once that is known."""
    again: Again | None = None


class TurnTee(Protocol):
    """The observer's end of one LLM exchange. Its methods are cheap and raise nothing."""

    def sent(self) -> None:
        """The request went upstream, of one that stood before a gate when this was opened."""

    def answer(self, status: int, headers: Mapping[str, str]) -> None:
        """The upstream's status line and headers came."""

    def chunk(self, data: bytes) -> None:
        """These bytes have just been written to the client."""

    def closed(self, *, clean: bool, whole: bool = True) -> None:
        """The exchange is over.

        Args:
            clean: False if either side broke off.
            whole: False if a part of the answer that was passed on has not been shown.
        """


class TurnGate(Protocol):
    """Where the LLM route shows the hub what passes."""

    def opened(
        self,
        *,
        wire: str,
        target: str,
        headers: Mapping[str, str],
        body: Pieces | None,
        waiting: Waiting | None = None,
    ) -> TurnTee:
        """A request was sent upstream, or stands before a gate.

        Args:
            target: its raw target, path and query.
            body: in pieces as it came; None where it was too large to keep.
            waiting: what decides when it is sent; None: it was.
        """


class LlmGate(TurnGate, Protocol):
    """Where the LLM route shows the hub what passes, and what it cannot show."""

    def tunnelled(self) -> Callable[[], None]:
        """A connection was opened whose turns cannot be read (a WebSocket); to be called when it has closed."""
