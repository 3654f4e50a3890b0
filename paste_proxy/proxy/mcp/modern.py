"""What HTTP asks of a server of the stateless era, in front of a stdio server that knows nothing of HTTP."""

from aiohttp import web

from paste_proxy.wire.jsonrpc import Request, Response, read_message, refuse
from paste_proxy.wire.jsonspans import members
from paste_proxy.wire.loose import read
from paste_proxy.wire.mcp_client import plain_header, stateless_headers
from paste_proxy.wire.mcp_tools import ListedTool

_HEADER_MISMATCH = -32020
_STATUS = {-32601: 404, _HEADER_MISMATCH: 400, -32021: 400, -32022: 400}
"""JSON-RPC error codes that go with an HTTP status of their own."""


def contradiction(request: web.Request, message: Request, tool: ListedTool | None) -> web.Response | None:
    """The refusal of a request one of whose headers says something else than its body.

    A header that is missing is let pass, although clients have to send it: the server never sees it anyway.

    Args:
        tool: what is known of the tool that it calls, if it calls one.
    """
    for name, value in stateless_headers(message, tool).items():
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
