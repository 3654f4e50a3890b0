"""What HTTP asks of a server of the stateless era, in front of a stdio server that knows nothing of HTTP."""

from aiohttp import web

from paste_proxy.wire.jsonrpc import Request, Response, read_message, refuse
from paste_proxy.wire.jsonspans import members
from paste_proxy.wire.loose import read
from paste_proxy.wire.mcp import PROTOCOL_VERSION
from paste_proxy.wire.mcp_client import mirrored_headers, plain_header
from paste_proxy.wire.mcp_tools import ListedTool

_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_HEADER_MISMATCH = -32020
_STATUS = {-32601: 404, _HEADER_MISMATCH: 400, -32021: 400, -32022: 400}
"""JSON-RPC error codes that go with an HTTP status of their own."""


def contradiction(request: web.Request, message: Request, tool: ListedTool | None) -> web.Response | None:
    """The refusal of a request one of whose headers says something else than its body.

    A header that is missing is let pass, although clients have to send it: the server never sees it anyway.

    Args:
        tool: what is known of the tool that it calls, if it calls one.
    """
    params = members(message.params_raw or b"") or {}
    meta = members(params.get("_meta", b"")) or {}
    due = {"MCP-Protocol-Version": read(meta.get(PROTOCOL_VERSION, b"")), "Mcp-Method": message.method}
    if message.method in _NAMED_BY:
        due["Mcp-Name"] = read(params.get(_NAMED_BY[message.method], b""))
    arguments = read(params.get("arguments", b""))
    if tool is not None and isinstance(arguments, dict):
        due |= mirrored_headers(tool, arguments)
    for name, value in due.items():
        if name in request.headers and plain_header(request.headers[name]) != value:
            body = refuse(message.id_raw, _HEADER_MISMATCH, f"the header {name} contradicts the body")
            return web.Response(status=400, body=body, content_type="application/json")
    return None


def status_of(raw: bytes) -> int:
    """The HTTP status of a response that is sent as JSON."""
    message = read_message(raw)
    if not isinstance(message, Response) or message.error_raw is None:
        return 200
    code = read((members(message.error_raw) or {}).get("code", b""))
    return _STATUS.get(code, 200) if isinstance(code, int) else 200
