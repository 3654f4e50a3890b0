"""How a client presents itself to an MCP server, so that a second session looks the same to the server.

A server may offer other tools, or other answers, to a client with other capabilities, so a speculative
session introduces itself with the live client's own words.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from paste_proxy.events.values import Json, dumps
from paste_proxy.wire.jsonspans import members
from paste_proxy.wire.loose import read, string
from paste_proxy.wire.mcp import PROTOCOL_VERSION, Era
from paste_proxy.wire.mcp_client import Dialect, Outgoing
from paste_proxy.wire.mcp_tools import ListedTool

SPECULATIVE = b'"paste-proxy/speculative":true'
"""Member of `_meta` that marks a speculative call, where a server is to be told."""
SPECULATIVE_HEADER = {"x-paste-speculative": "1"}
"""The same over HTTP, for whoever reads no bodies."""

OUR_NAME = ("paste-proxy", "0")
"""Stands where a message builder wants a name although the live client's introduction is sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """What the live client told the server about itself."""

    era: Era
    introduction: bytes
    """Raw JSON object: the params of its `initialize`, or the protocol's part of a stateless request's `_meta`."""
    version: str
    """The protocol version it speaks."""
    headers: tuple[tuple[str, str], ...] = ()
    """Its credentials and custom headers, over HTTP."""
    asked_roots: bool = False
    """Whether the server asked it for its roots."""
    asked_at_opening: bool = False
    """Whether it did so before the first call."""
    roots: bytes | None = None
    """Raw JSON: what it answered to `roots/list`."""


def stateless_hello(meta: bytes) -> Hello:
    """How a client of the stateless era presents itself by the protocol's part of a request's `_meta`."""
    version = string(read((members(meta) or {}).get(PROTOCOL_VERSION, b"")))
    return Hello(era=Era.STATELESS, introduction=meta, version=version)


def opening(hello: Hello, request_id: int) -> Outgoing:
    """The request that opens a session like the live client's."""
    dialect = Dialect(era=Era.SESSION, version=hello.version, client=OUR_NAME)
    headers = {k: v for k, v in dialect.initialized().headers.items() if k != "MCP-Protocol-Version"}
    return Outgoing(_request(request_id, "initialize", hello.introduction), headers)


def call(
    hello: Hello, dialect: Dialect, request_id: int, tool: ListedTool, arguments: dict[str, Json], *, marked: bool
) -> Outgoing:
    """A `tools/call` as the live client would send it, less what belongs to its own exchange (progress, ids)."""
    sent = dialect.call(request_id, tool, arguments)
    stateless = dialect.era is Era.STATELESS
    if not stateless and not marked:
        return sent
    meta = [hello.introduction.strip()[1:-1]] if stateless else []
    if marked:
        meta.append(SPECULATIVE)
    params = _object(
        {
            "name": dumps(tool.name),
            "arguments": dumps(arguments),
            "_meta": b"{" + b",".join(part for part in meta if part.strip()) + b"}",
        }
    )
    headers = {**sent.headers, **SPECULATIVE_HEADER} if marked else sent.headers
    return Outgoing(_request(request_id, "tools/call", params), headers)


def listing(hello: Hello, dialect: Dialect, request_id: int, cursor: str | None) -> Outgoing:
    """A `tools/list` as the live client would send it, from `cursor` on."""
    sent = dialect.list_tools(request_id, cursor)
    if dialect.era is Era.SESSION:
        return sent
    page = {"cursor": dumps(cursor)} if cursor else {}
    params = _object({**page, "_meta": hello.introduction})
    return Outgoing(_request(request_id, "tools/list", params), sent.headers)


def _request(request_id: int, method: str, params_raw: bytes) -> bytes:
    head = b'{"jsonrpc":"2.0","id":%d,"method":%s,"params":' % (request_id, dumps(method))
    return head + params_raw + b"}"


def _object(parts: Mapping[str, bytes]) -> bytes:
    return b"{" + b",".join(dumps(name) + b":" + raw for name, raw in parts.items()) + b"}"
