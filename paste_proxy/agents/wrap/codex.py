"""Codex, turned by what `-c` says on its command line, which outranks every file.

Its home is left where it is: its index of sessions holds absolute paths. Codex merges tables key by key, so a
server that is a program cannot become an address; its program becomes a bridge to the sidecar instead.
Its own provider would rather speak WebSocket, of which nothing could be seen; refused, it asks over HTTP.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paste_proxy.agents.wrap import stdio_bridge
from paste_proxy.agents.wrap.client import SESSION_HEADER, Behind, Found, Prepared, User
from paste_proxy.agents.wrap.codex_config import codex_home, effective, options
from paste_proxy.agents.wrap.codex_login import OPENAI, endpoint, signed_in_servers
from paste_proxy.agents.wrap.program import program_at
from paste_proxy.agents.wrap.servers import read_servers
from paste_proxy.config import LlmRoute
from paste_proxy.errors import InputFault

_PATH = "/codex"
_OWN = "openai"
_OTHER_BUILT_IN = ("ollama", "lmstudio", "amazon-bedrock")
_KEY = re.compile(r"[A-Za-z0-9_-]+")
"""A name that can stand in a dotted key of `-c`."""


class Codex:
    """OpenAI's Codex CLI."""

    name = "codex"

    def recognises(self, command: tuple[str, ...]) -> bool:
        """Whether the command starts Codex."""
        return _program(command) is not None

    def find(self, user: User) -> Found:
        """Read what Codex would read.

        Raises:
            InputFault: a file is no TOML, or names a provider that it does not define.
        """
        config, home = _config(user), codex_home(user)
        provider = _provider(user, config)
        routes, notes = _routes(provider, endpoint(home, user.env))
        signed_in = signed_in_servers(home)
        entries = {
            name: {**entry, "oauth": True} if name in signed_in else entry for name, entry in _entries(config).items()
        }
        servers, left = read_servers(entries, expand=str, folder=user.folder, plain_url="http")
        odd = [name for name in servers if not _KEY.fullmatch(name)]
        return Found(
            routes=routes,
            servers={name: server for name, server in servers.items() if name not in odd},
            notes=(
                *notes,
                *left,
                *(f"MCP server {name!r} stays out of the sidecar: -c cannot name it" for name in odd),
            ),
        )

    def prepare(self, user: User, found: Found, behind: Behind, home: Path) -> Prepared:
        """Say on the command line where everything is now; `home` is not needed."""
        config = _config(user)
        provider = _provider(user, config)
        tagged = not found.routes or provider.name != _OWN
        said: dict[str, Any] = _turned_provider(provider, behind) if found.routes else {}
        entries = _entries(config)
        for name in found.servers:
            said.update(_turned_server(name, entries[name], behind, tagged=tagged))
        at = _program(user.command)
        assert at is not None
        arguments = _without(user.command[at + 1 :], said)
        overrides = [word for key, value in said.items() for word in ("-c", f"{key}={json.dumps(value)}")]
        return Prepared(command=(*user.command[: at + 1], *overrides, *arguments), env=user.env)


@dataclass(frozen=True, slots=True)
class _Provider:
    name: str
    table: Mapping[str, Any]


def _program(command: tuple[str, ...]) -> int | None:
    return program_at(command, names=("codex",), packages=("@openai/codex",))


def _arguments(user: User) -> tuple[str, ...]:
    at = _program(user.command)
    return user.command[at + 1 :] if at is not None else ()


def _config(user: User) -> dict[str, Any]:
    return effective(user, _arguments(user))


def _entries(config: Mapping[str, Any]) -> dict[str, Any]:
    found = config.get("mcp_servers")
    return found if isinstance(found, dict) else {}


def _provider(user: User, config: Mapping[str, Any]) -> _Provider:
    if "--oss" in _arguments(user):
        return _Provider(_OTHER_BUILT_IN[0], {})
    name = config.get("model_provider", _OWN)
    if name == _OWN or name in _OTHER_BUILT_IN:
        return _Provider(name, {"base_url": config.get("openai_base_url")} if name == _OWN else {})
    table = (config.get("model_providers") or {}).get(name)
    if not isinstance(table, dict):
        raise InputFault(
            f"{codex_home(user) / 'config.toml'}: model_provider", repr(name), "a table under [model_providers]"
        )
    return _Provider(name, table)


def _routes(provider: _Provider, login: str | None) -> tuple[tuple[LlmRoute, ...], tuple[str, ...]]:
    """Its endpoint, or why that stays out of sight."""
    why = ""
    if provider.name in _OTHER_BUILT_IN or {"aws", "gateway_oauth"} & provider.table.keys():
        why = f"the provider {provider.name!r} is asked directly: only plain HTTP addresses can be turned"
    elif not _KEY.fullmatch(provider.name):
        why = f"the provider {provider.name!r} is asked directly: -c cannot name it"
    own = login if provider.name == _OWN or provider.table.get("requires_openai_auth") else OPENAI
    upstream = provider.table.get("base_url") or own
    if not why and not isinstance(upstream, str):
        why = "no login of Codex is to be seen, so nobody knows which endpoint it will ask; it is asked directly"
    if why or not isinstance(upstream, str):
        return (), (why,)
    return (LlmRoute(path=_PATH, upstream=upstream, websockets=False),), ()


def _turned_provider(provider: _Provider, behind: Behind) -> dict[str, Any]:
    """Codex's own provider takes no headers; it names its session itself."""
    if provider.name == _OWN:
        return {"openai_base_url": behind.url + _PATH}
    there = f"model_providers.{provider.name}"
    return {f"{there}.base_url": behind.url + _PATH, f"{there}.http_headers.{SESSION_HEADER}": behind.session}


def _turned_server(name: str, entry: Mapping[str, Any], behind: Behind, *, tagged: bool) -> dict[str, Any]:
    """A server's new place; untagged where the LLM requests have another name for the session."""
    there, address = f"mcp_servers.{name}", behind.mcp(name)
    if entry.get("url"):
        tag = {f"{there}.http_headers.{SESSION_HEADER}": behind.session} if tagged else {}
        return {f"{there}.url": address, **tag}
    header = [f"{SESSION_HEADER}={behind.session}"] if tagged else []
    bridge = ["-I", "-S", stdio_bridge.__file__, address, *header]
    return {f"{there}.command": sys.executable, f"{there}.args": bridge}


def _without(arguments: Sequence[str], said: Mapping[str, Any]) -> Iterator[str]:
    """The arguments but for overrides of what we say: of two, Codex takes the later."""
    dropped = {
        place
        for option in options(arguments, "-c", "--config")
        if option.value.partition("=")[0].strip() in said
        for place in range(option.at, option.at + option.words)
    }
    return (word for place, word in enumerate(arguments) if place not in dropped)
