"""What a wrapped client is to the wrapper: where its traffic goes, and how to turn it.

A client is read first (`find`), a sidecar is started for what was found, and then the client's
configuration is written anew into a home of its own (`prepare`). Nothing of the user's is changed.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from paste_proxy.agents.wrap.home import Mirror
from paste_proxy.agents.wrap.settings_back import Rewritten
from paste_proxy.config import LlmRoute, McpServer

SESSION_HEADER = "x-paste-session"


def sidecar_name(server: str) -> str:
    """What a client's MCP server is called by a sidecar, whose names have no spaces and the like."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", server) or "_"


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """What the user would run, and where: the command as typed and what surrounds it."""

    command: tuple[str, ...]
    home: Path
    folder: Path
    """The working folder."""
    env: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Of a client's traffic, what can go through a sidecar."""

    routes: tuple[LlmRoute, ...]
    """Its LLM endpoints, on paths of the sidecar."""
    servers: Mapping[str, McpServer] = field(default_factory=dict)
    """Its MCP servers by the names it gives them; those left as they are (another transport) are not among them."""
    server_env: Mapping[str, str] | None = None
    """The environment that the client gives to servers it starts, before their own `env`; None: all of its own."""
    notes: tuple[str, ...] = ()
    """For the user: what stays out of the sidecar's sight, and why."""
    obstacle: str = "it has no hooks that could"
    """Why no result can be put in place of its shell's own run of a command; empty where one can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Behind:
    """The sidecar that the client is to run behind."""

    url: str
    """Its address, without a path: `http://127.0.0.1:8377`."""
    session: str
    """Names the run: sent with LLM requests and MCP messages in `SESSION_HEADER`."""
    substitute: bool = False
    """Whether hooks may put a result that was run ahead in place of a built-in tool's own run."""

    def mcp(self, server: str) -> str:
        """Where one of the client's MCP servers is now."""
        return f"{self.url}/mcp/{sidecar_name(server)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What to start instead."""

    command: tuple[str, ...]
    env: Mapping[str, str]
    mirrors: tuple[Mirror, ...] = ()
    """Folders of the user's that others stand in for; what the run leaves in those is brought back."""
    rewritten: tuple[Rewritten, ...] = ()
    """Settings of the user's that others stand in for; what the run changes in those is brought back."""


class Client(Protocol):
    """One known agent program."""

    name: str
    """As people call it: `gemini-cli`."""

    def recognises(self, command: tuple[str, ...]) -> bool:
        """Whether the command starts this program: by its name, its path, or through node or npx."""

    def find(self, user: User) -> Found:
        """Read the user's configuration.

        Raises:
            InputFault: it cannot be read; the client would not start with it either.
        """

    def prepare(self, user: User, found: Found, behind: Behind, home: Path) -> Prepared:
        """Write the configuration into the empty folder `home`, turned to the sidecar.

        Logins and transcripts are the client's own business: they are linked, so that they are kept where
        they would be kept without us.
        """
