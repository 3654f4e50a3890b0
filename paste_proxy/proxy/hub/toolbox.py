"""Which tools can be run speculatively, through which backend, and what each is called.

An LLM's wire may spell a tool `read_file`, `mcp__fs__read_file` or `mcp_fs_read_file`; the one behind
`/mcp/fs` is `fs/read_file`. The toolbox knows the tools on offer and so can tell. It also takes off what
clients put around a call: a tool that calls another by its name, arguments of the client's own.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from paste_proxy.events.invocation import Invocation, name_of, server_of
from paste_proxy.events.values import Json
from paste_proxy.proxy.hub.spelling import Spellings
from paste_proxy.proxy.ports import NO_ARGUMENTS
from paste_proxy.speculation.hints import NO_HINTS, Hints, agreed
from paste_proxy.speculation.reading_commands import READ_SHELL, reading_command
from paste_proxy.tools.backend import Backend, Staging

_CALLERS = {"tool_call", "call_tool", "use_tool", "use_mcp_tool"}
"""Tools by which clients let a model call those that they have not described to it."""
_CALLED = ("name", "tool_name")
_IDENTIFIED = 4_096
"""Names come from outside, so that what is remembered of them is bounded."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """A call as an LLM or a client spells it, understood."""

    invocation: Invocation
    """What it most likely asks for."""
    judged: Invocation
    """What its effect is judged by: the same, or the spelling itself where that may be another tool's."""
    or_else: Invocation | None = None
    """The tool of the client's own that a bare name may mean."""

    @property
    def sure(self) -> bool:
        """Whether it can be nothing else."""
        return self.judged == self.invocation and self.or_else is None


@dataclass(frozen=True, slots=True)
class Offer:
    """A connection's promise to run a server's tools."""

    scope: str
    server: str
    backend: Backend
    tools: frozenset[str]
    session: str | None
    """The agent session whose connection this is, where known."""
    beside: Mapping[str, frozenset[str]]
    """Per tool, arguments that it takes no notice of."""
    hints: Mapping[str, Hints]
    """Per tool, what the server says of it there."""


class Toolbox:
    """The offers standing now.

    Args:
        alike: those of the servers that are the same to every session.
        annotated: told of what a tool's server says of it, on all connections together, whenever that changes (None:
            no connection offers the tool any more); says whether that makes a write of what was a read.
    """

    def __init__(
        self,
        servers: Iterable[str] = (),
        alike: Iterable[str] = (),
        annotated: Callable[[str, Hints | None], bool] = lambda tool, hints: False,
    ) -> None:
        self._servers, self._alike, self._annotated = set(servers), frozenset(alike), annotated
        self._offers: dict[tuple[str, str], Offer] = {}
        self._holders: dict[str, list[Offer]] = defaultdict(list)
        self._spellings = Spellings()
        self._hints: dict[str, Hints] = {}
        """What was told of each tool on offer."""
        self._identified: dict[tuple[str, bool], str] = {}
        """What `identify` gave, as long as no offer comes or goes."""

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
    ) -> bool:
        """Add an offer, or replace the one of the same scope and server.

        Returns:
            Whether a tool that was a read is a write now.
        """
        before = self._drop((scope, server))
        offer = Offer(scope, server, backend, frozenset(tools), session, beside, hints)
        self._offers[scope, server] = offer
        for tool in offer.tools:
            self._holders[tool].append(offer)
            self._spellings.add(tool)
        self._identified = {}
        return sum(self._tell_hints(tool) for tool in before | offer.tools) > 0

    def withdraw(self, scope: str) -> None:
        """Drop every offer of a scope."""
        for key in [key for key in self._offers if key[0] == scope]:
            for tool in self._drop(key):
                self._tell_hints(tool)

    def belongs(self, scope: str, session: str) -> None:
        """A session has called tools through that connection: until it says otherwise it is no other's."""
        for key, offer in [(key, offer) for key, offer in self._offers.items() if key[0] == scope]:
            if offer.session is None:
                self.offer(*key, offer.backend, offer.tools, session=session, beside=offer.beside, hints=offer.hints)

    def _tell_hints(self, tool: str) -> bool:
        """Tell what is said of a tool, if it is something else now; gives whether that makes a write of it."""
        holders, before = self._holders.get(tool), self._hints.get(tool)
        now = agreed(offer.hints.get(tool, Hints()) for offer in holders) if holders else None
        if now == before:
            return False
        if now is None:
            del self._hints[tool]
        else:
            self._hints[tool] = now
        return self._annotated(tool, now)

    def _drop(self, key: tuple[str, str]) -> frozenset[str]:
        """Drop an offer, if there is one; gives its tools."""
        offer = self._offers.pop(key, None)
        if offer is None:
            return frozenset()
        for tool in offer.tools:
            self._holders[tool].remove(offer)
            if not self._holders[tool]:
                del self._holders[tool]
                self._spellings.drop(tool)
        self._identified = {}
        return offer.tools

    def knows(self, tool: str) -> bool:
        """Whether calls of this tool pass through the sidecar."""
        return tool in self._holders or server_of(tool) in self._servers

    def offered(self, name: str) -> bool:
        """Whether some connection runs the tool that this is a spelling of."""
        return self.identify(name) in self._holders

    def shared(self, tool: str) -> bool:
        """Whether the tool is run the same for every session: by the sidecar itself, or by a server that is alike to
        all of them. Not where a program runs one of that name for its own session."""
        holders = self._holders.get(tool, ())
        return bool(holders or server_of(tool) in self._alike) and all(map(self._is_nobody_s, holders))

    def _is_nobody_s(self, offer: Offer) -> bool:
        return offer.server in self._alike if offer.server else not offer.scope and offer.session is None

    def identify(self, name: str, *, bare: bool = True) -> str:
        """The identity behind a spelling; the spelling itself where nothing on offer fits or two do.

        Args:
            bare: whether a server's tool may be called without its server's name. Not by a client that puts
                servers' names before their tools': a bare name is a tool of its own there.
        """
        if name in self._holders:
            return name
        identified = self._identified
        known = identified.get((name, bare))
        if known is None:
            sure = self._spellings.prefixed(name) or self._spellings.cut(name)
            known = sure or (self._spellings.bare(name) if bare else None) or name
            if len(identified) < _IDENTIFIED:
                identified[name, bare] = known
        return known

    def prefixed(self, name: str) -> bool:
        """Whether this spells a tool on offer with its server's name before it."""
        return name not in self._holders and self._spellings.prefixed(name) is not None

    def resolve(self, name: str, arguments: dict[str, Json], *, bare: bool = True) -> Resolved:
        """What a call asks for in the end.

        Args:
            name: as the LLM or the client spells it.
            bare: as for `identify`.
        """
        tool = self.identify(name, bare=bare)
        if READ_SHELL in self._holders and (command := reading_command(tool, arguments)) is not None:
            return _sure(Invocation(READ_SHELL, {"command": command}))
        if tool in _CALLERS and tool not in self._holders:
            called = next((inner for key in _CALLED if isinstance(inner := arguments.get(key), str)), "")
            inner = arguments.get("arguments", {})
            if called and isinstance(inner, dict) and called not in _CALLERS:
                return self.resolve(called, inner, bare=bare)
        meant, spelt = self.plain(Invocation(tool, arguments)), Invocation(name, arguments)
        if tool == name or self.prefixed(name):
            return _sure(meant)
        return Resolved(meant, meant, spelt) if name_of(tool) == name else Resolved(meant, spelt)

    def plain(self, invocation: Invocation) -> Invocation:
        """The invocation without the arguments that its tool takes no notice of."""
        holders = self._holders.get(invocation.tool)
        beside = holders[-1].beside.get(invocation.tool) if holders else None
        if not beside or beside.isdisjoint(invocation.arguments):
            return invocation
        kept = {name: value for name, value in invocation.arguments.items() if name not in beside}
        return Invocation(invocation.tool, kept)

    def find(self, tool: str, session: str, scopes: Iterable[str]) -> Offer | None:
        """The offer through which a session would call the tool.

        Args:
            scopes: connections that the session has called tools through.

        A session that has not used the tool's server yet is served by the only connection to it, if there
        is exactly one and it is not known to be another session's.
        """
        holders = self._holders.get(tool, ())
        own = {"", *scopes}
        for offer in reversed(holders):
            if offer.scope in own or offer.session == session:
                return offer
        free = [offer for offer in holders if offer.session is None]
        return free[0] if len(free) == 1 else None

    def stages(self, invocation: Invocation) -> bool:
        """Whether some connection could run a call with its effects held back."""
        holders = self._holders.get(invocation.tool, ())
        return any(isinstance(offer.backend, Staging) and offer.backend.stages(invocation) for offer in holders)

    def through(self, tool: str, scope: str) -> Offer | None:
        """The offer of the tool on that connection."""
        return next((offer for offer in self._holders.get(tool, ()) if offer.scope == scope), None)


def _sure(invocation: Invocation) -> Resolved:
    return Resolved(invocation, invocation)
