"""Messages of our own MCP client, which makes the speculative calls; bodies and the headers they need on HTTP.

Ids are our own, whole numbers. Over HTTP a stateless call is cancelled by closing its response stream; in
the session era, and on stdio in both, by `Dialect.cancelled`.
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass

from paste_proxy.events.values import Json, dumps
from paste_proxy.wire.jsonrpc import Request
from paste_proxy.wire.jsonspans import members
from paste_proxy.wire.loose import read
from paste_proxy.wire.mcp import PROTOCOL_VERSION, Era
from paste_proxy.wire.mcp_tools import ListedTool

SESSION_VERSION = "2025-11-25"
"""The version we offer in `initialize`; the server may answer with an older one."""
STATELESS_VERSION = "2026-07-28"

_ACCEPT = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_ENCODED = re.compile(r"=\?base64\?(.*)\?=")
_HEADER_SAFE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A message to send."""

    body: bytes
    headers: Mapping[str, str]
    """What it needs over HTTP; nothing of it matters on stdio."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How to talk to one server.

    In the session era it is made from the answer to `initialize`: the version it agrees to and the
    `Mcp-Session-Id` header, if any.
    """

    era: Era
    version: str
    client: tuple[str, str]
    """Our name and version."""
    session_id: str | None = None

    def discover(self, request_id: int) -> Outgoing:
        """Probe for the stateless era: a server of the older one answers with an error."""
        return self._message("server/discover", {}, request_id)

    def list_tools(self, request_id: int, cursor: str | None = None) -> Outgoing:
        """Ask for a page of the server's tools."""
        params: dict[str, Json] = {"cursor": cursor} if cursor else {}
        return self._message("tools/list", params, request_id)

    def call(self, request_id: int, tool: ListedTool, arguments: dict[str, Json]) -> Outgoing:
        """Call a tool."""
        sent = self._message("tools/call", {"name": tool.name, "arguments": arguments}, request_id)
        if self.era is Era.SESSION:
            return sent
        extra = {name: header_value(text) for name, text in mirrored_headers(tool, arguments).items()}
        return Outgoing(sent.body, {**sent.headers, "Mcp-Name": header_value(tool.name), **extra})

    def cancelled(self, request_id: int, reason: str) -> Outgoing:
        """Take a request back."""
        return self._message("notifications/cancelled", {"requestId": request_id, "reason": reason})

    def initialized(self) -> Outgoing:
        """End the opening of a session."""
        return self._message("notifications/initialized", {})

    def listen(self) -> Outgoing:
        """The GET that opens a session's stream for what the server sends of its own accord."""
        return Outgoing(b"", {**self.initialized().headers, "Accept": "text/event-stream"})

    def _message(self, method: str, params: dict[str, Json], request_id: int | None = None) -> Outgoing:
        headers = {**_ACCEPT, "MCP-Protocol-Version": self.version}
        if self.era is Era.STATELESS:
            headers["Mcp-Method"] = method
            params = {**params, "_meta": _identity(self.version, self.client)}
        elif self.session_id is not None:
            headers["Mcp-Session-Id"] = self.session_id
        return Outgoing(_rpc(method, params, request_id), headers)


def initialize(request_id: int, client: tuple[str, str]) -> Outgoing:
    """Open a session of the older era. No session id and no version header go with it."""
    params: dict[str, Json] = {
        "protocolVersion": SESSION_VERSION,
        "capabilities": {},
        "clientInfo": {"name": client[0], "version": client[1]},
    }
    return Outgoing(_rpc("initialize", params, request_id), _ACCEPT)


def stateless_headers(request: Request, tool: ListedTool | None) -> dict[str, str]:
    """The headers by which a request of the stateless era repeats itself over HTTP, their values as plain text.

    Args:
        tool: what is known of the tool that it calls, if it calls one.
    """
    params = members(request.params_raw or b"") or {}
    meta = members(params.get("_meta", b"")) or {}
    due = {"MCP-Protocol-Version": read(meta.get(PROTOCOL_VERSION, b"")), "Mcp-Method": request.method}
    if request.method in _NAMED_BY:
        due["Mcp-Name"] = read(params.get(_NAMED_BY[request.method], b""))
    arguments = read(params.get("arguments", b""))
    if tool is not None and isinstance(arguments, dict):
        due.update(mirrored_headers(tool, arguments))
    return {name: value for name, value in due.items() if isinstance(value, str)}


def mirrored_headers(tool: ListedTool, arguments: dict[str, Json]) -> dict[str, str]:
    """The headers that repeat arguments, their values as plain text."""
    values = {name: _at(arguments, path) for name, path in tool.mirrored}
    return {name: text for name, value in values.items() if (text := _scalar(value)) is not None}


def plain_header(value: str) -> str | None:
    """The text that a header of the protocol's own stands for; None where it was encoded wrongly."""
    encoded = _ENCODED.fullmatch(value)
    if encoded is None:
        return value
    try:
        return b64decode(encoded[1], validate=True).decode("utf-8")
    except ValueError:
        return None


def _identity(version: str, client: tuple[str, str]) -> dict[str, Json]:
    return {
        PROTOCOL_VERSION: version,
        "io.modelcontextprotocol/clientInfo": {"name": client[0], "version": client[1]},
        "io.modelcontextprotocol/clientCapabilities": {},
    }


def _rpc(method: str, params: dict[str, Json], request_id: int | None) -> bytes:
    message: dict[str, Json] = {"jsonrpc": "2.0", "method": method}
    if request_id is not None:
        message["id"] = request_id
    if params:
        message["params"] = params
    return dumps(message)


def _at(arguments: dict[str, Json], path: tuple[str, ...]) -> Json:
    node: Json = arguments
    for key in path:
        node = node.get(key) if isinstance(node, dict) else None
    return node


def _scalar(value: Json) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else None


def header_value(value: str) -> str:
    """A header value that survives HTTP: what is not plain ASCII goes as `=?base64?..?=`."""
    plain = not value or (_HEADER_SAFE.fullmatch(value) and not value.startswith("=?base64?"))
    return value if plain else f"=?base64?{b64encode(value.encode('utf-8', 'surrogatepass')).decode()}?="
