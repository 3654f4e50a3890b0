"""Which tools can be run speculatively, through which backend, and what each is called.

An LLM's wire may spell a tool `read_file`, `mcp__fs__read_file` or `mcp_fs_read_file`; the one behind
`/mcp/fs` is `fs/read_file`. The toolbox knows the tools on offer and so can tell.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from paste_proxy.events.invocation import name_of, server_of
from paste_proxy.tools.backend import Backend


@dataclass(frozen=True, slots=True)
class Offer:
    """A connection's promise to run a server's tools."""

    scope: str
    server: str
    backend: Backend
    tools: frozenset[str]
    session: str | None
    """The agent session whose connection this is, where known."""


class Toolbox:
    """The offers standing now."""

    def __init__(self, servers: Iterable[str] = ()) -> None:
        self._servers = set(servers)
        self._offers: dict[tuple[str, str], Offer] = {}
        self._holders: dict[str, list[Offer]] = defaultdict(list)
        self._identities: dict[str, set[str]] = defaultdict(set)

    def offer(
        self, scope: str, server: str, backend: Backend, tools: Iterable[str], *, session: str | None = None
    ) -> None:
        """Add an offer, or replace the one of the same scope and server."""
        self._drop((scope, server))
        offer = Offer(scope, server, backend, frozenset(tools), session)
        self._offers[scope, server] = offer
        for tool in offer.tools:
            self._holders[tool].append(offer)
            self._identities[name_of(tool)].add(tool)

    def withdraw(self, scope: str) -> None:
        """Drop every offer of a scope."""
        for key in [key for key in self._offers if key[0] == scope]:
            self._drop(key)

    def belongs(self, scope: str, session: str) -> None:
        """A session has called tools through that connection: until it says otherwise it is no other's."""
        for key, offer in [(key, offer) for key, offer in self._offers.items() if key[0] == scope]:
            if offer.session is None:
                self.offer(*key, offer.backend, offer.tools, session=session)

    def _drop(self, key: tuple[str, str]) -> None:
        offer = self._offers.pop(key, None)
        if offer is None:
            return
        for tool in offer.tools:
            self._holders[tool].remove(offer)
            if not self._holders[tool]:
                del self._holders[tool]
                self._identities[name_of(tool)].discard(tool)

    def knows(self, tool: str) -> bool:
        """Whether calls of this tool pass through the sidecar."""
        return tool in self._holders or server_of(tool) in self._servers

    def offered(self, name: str) -> bool:
        """Whether some connection runs the tool that this is a spelling of."""
        return self.identify(name) in self._holders

    def identify(self, name: str) -> str:
        """The identity behind a spelling; the spelling itself where nothing on offer fits or two do."""
        if name in self._holders:
            return name
        candidates = self._identities.get(name) or {
            tool
            for spelling, server in _unprefixed(name, self._servers)
            for tool in self._identities.get(spelling, ())
            if server_of(tool) == server
        }
        return next(iter(candidates)) if len(candidates) == 1 else name

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

    def through(self, tool: str, scope: str) -> Offer | None:
        """The offer of the tool on that connection."""
        return next((offer for offer in self._holders.get(tool, ()) if offer.scope == scope), None)


def _unprefixed(name: str, servers: Iterable[str]) -> Iterable[tuple[str, str]]:
    for server in servers:
        for prefix in (f"mcp__{server}__", f"mcp_{server}_", f"{server}__", f"{server}_", f"{server}."):
            if name.startswith(prefix):
                yield name.removeprefix(prefix), server
