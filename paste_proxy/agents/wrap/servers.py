"""The `mcpServers` that coding agents share: from their entries to the sidecar's, and back to turned entries.

An entry that cannot be turned as it is stays as it is, and a note says why. One that is turned keeps its
name and every key that says nothing about where the server is, so that the model sees the same tools.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from paste_proxy.agents.wrap.client import SESSION_HEADER, Behind, sidecar_name
from paste_proxy.config import McpServer
from paste_proxy.events.values import Json

Entries = Mapping[str, Json]
"""The object that stands under `mcpServers`."""
Expand = Callable[[str], str]
"""How a client fills environment variables into a text of its configuration."""

_PLACE = ("command", "args", "env", "cwd", "url", "httpUrl", "type", "transport", "tcp", "headers")
_SHELL = re.compile(r"\$(?:(?P<bare>\w+)|\{(?P<braced>[^}]+?)(?::-(?P<default>[^}]*))?\})")
_BRACED = re.compile(r"\$\{(?P<braced>[^}]+?)(?::-(?P<default>[^}]*))?\}")


def expansion(env: Mapping[str, str], *, bare: bool = True, defaults: bool = True) -> Expand:
    """Fills in `${NAME}`, if `bare` `$NAME`, and if `defaults` `${NAME:-default}`.

    What is not set stays as it is written.
    """

    def value(found: re.Match[str]) -> str:
        words = found.groupdict()
        name, default = words.get("bare") or words["braced"], words["default"]
        if default is not None and not defaults:
            return found[0]
        return env.get(name, found[0] if default is None else default)

    return lambda text: (_SHELL if bare else _BRACED).sub(value, text)


def read_servers(
    entries: Entries,
    *,
    expand: Expand,
    folder: Path,
    plain_url: Literal["http", "sse"] | None = None,
) -> tuple[dict[str, McpServer], tuple[str, ...]]:
    """The servers among `entries` that can be behind a sidecar, and notes on the others.

    Args:
        folder: the client's working folder, from which a relative `cwd` counts.
        plain_url: what a `url` without a type means to the client; None: one or the other.
    """
    servers: dict[str, McpServer] = {}
    notes = []
    taken: set[str] = set()
    for name, entry in entries.items():
        found = read_server(entry, expand=expand, folder=folder, plain_url=plain_url)
        if found is None:
            continue
        if isinstance(found, McpServer) and sidecar_name(name) in taken:
            found = "another server has the same name but for its punctuation"
        if isinstance(found, str):
            notes.append(f"MCP server {name!r} stays out of the sidecar: {found}")
            continue
        taken.add(sidecar_name(name))
        servers[name] = found
    return servers, tuple(notes)


def read_server(
    entry: Json, *, expand: Expand, folder: Path, plain_url: Literal["http", "sse"] | None
) -> McpServer | str | None:
    """What a sidecar needs to know of a server; or why it cannot be behind one; None: it is not in use."""
    if not isinstance(entry, dict):
        return "its entry is not an object"
    if entry.get("disabled") is True or entry.get("enabled") is False:
        return None
    if (entry.get("oauth") or entry.get("authProviderType")) and _address(entry):
        return "the client itself signs in to its address"
    try:
        if address := _address(entry):
            return _over_http(entry, expand(address), plain_url)
        if isinstance(command := entry.get("command"), str) and command:
            return _over_stdio(entry, expand, folder)
    except (ValidationError, TypeError):
        return "its entry has a value of an unexpected kind"
    return "its transport is not one that the sidecar speaks"


def turned(entry: Json, name: str, behind: Behind, *, key: Literal["httpUrl", "url"]) -> dict[str, Json]:
    """The entry of a server that is now behind the sidecar.

    Args:
        key: `httpUrl`, or `url` with the type `http`, by which the client knows streamable HTTP.
    """
    assert isinstance(entry, dict)
    kept = {word: value for word, value in entry.items() if word not in _PLACE}
    headers = entry.get("headers") if _address(entry) else None
    headers = {**(headers if isinstance(headers, dict) else {}), SESSION_HEADER: behind.session}
    where: dict[str, Json] = {key: behind.mcp(name)} if key == "httpUrl" else {"type": "http", key: behind.mcp(name)}
    return {**kept, **where, "headers": headers}


def _address(entry: Mapping[str, Json]) -> str:
    found = entry.get("httpUrl") or entry.get("url")
    return found if isinstance(found, str) else ""


def _over_http(entry: Mapping[str, Json], address: str, plain_url: str | None) -> McpServer | str:
    kind = entry.get("type") or entry.get("transport") or ("http" if entry.get("httpUrl") else plain_url)
    if kind is None:
        return 'it may be of the SSE transport; with "type": "http" in its entry it can be behind the sidecar'
    if kind not in ("http", "streamable-http", "streamableHttp", "streamable_http"):
        return f"it is of the {kind} transport"
    return McpServer(url=address)


def _over_stdio(entry: Mapping[str, Json], expand: Expand, folder: Path) -> McpServer:
    arguments, env, cwd = entry.get("args") or [], entry.get("env") or {}, entry.get("cwd")
    if not isinstance(arguments, list) or not isinstance(env, dict):
        raise TypeError
    return McpServer(
        command=tuple(expand(str(part)) for part in (entry["command"], *arguments)),
        env={key: expand(_written(value)) for key, value in env.items()},
        cwd=folder / expand(cwd) if isinstance(cwd, str) else folder,
    )


def _written(value: Json) -> str:
    return value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)
