"""How a speculative result is given to the client of a live `tools/call` over HTTP."""

from enum import Enum

from aiohttp import web

from paste_proxy.events.result import ToolResult
from paste_proxy.proxy.mcp.sessions import SESSION_ID
from paste_proxy.proxy.mcp.watch import McpWatch
from paste_proxy.tools.mcp_hello import OUR_NAME
from paste_proxy.wire.jsonrpc import refuse, respond
from paste_proxy.wire.mcp import Era, McpToolCall, sse_message
from paste_proxy.wire.mcp_client import Dialect

_CANCELLED = -32800


class Form(Enum):
    """The two forms of an answer."""

    JSON = "application/json"
    EVENTS = "text/event-stream"

    def accepted(self, request: web.Request) -> bool:
        """Whether the client reads answers of this form."""
        accept = request.headers.get("Accept", "*/*").lower()
        return self.value in accept or "*/*" in accept or self.value.partition("/")[0] + "/*" in accept


def served(request: web.Request, call: McpToolCall, result: ToolResult, content_type: str) -> web.Response:
    """The answer to a live call, with its own id.

    Args:
        content_type: of this server's live answers, where known. Else the answer is JSON if it may be: unlike
            events, of which some clients read no more than 1 MiB, it may have any size.
    """
    form = _form_of(content_type)
    if form is None:
        form = Form.JSON if Form.JSON.accepted(request) else Form.EVENTS
    body = respond(call.id_raw, result.body)
    headers = {"Content-Type": form.value}
    if form is Form.EVENTS:
        body = sse_message(body)
        headers["Cache-Control"] = "no-cache, no-transform"
    if call.era is Era.SESSION and SESSION_ID in request.headers:
        headers[SESSION_ID] = request.headers[SESSION_ID]
    return web.Response(body=body, headers=headers)


def never_answered(request: web.Request, call: McpToolCall) -> web.Response:
    """The end of a call that its client has cancelled: no response, where the form of the answer allows that."""
    if Form.EVENTS.accepted(request):
        return web.Response(headers={"Content-Type": Form.EVENTS.value, "Cache-Control": "no-cache, no-transform"})
    return web.Response(
        body=refuse(call.id_raw, _CANCELLED, "the client cancelled this call"), content_type=Form.JSON.value
    )


def headers_agree(request: web.Request, call: McpToolCall, watch: McpWatch) -> bool:
    """Whether a stateless request's headers repeat its body as they must; a server refuses it if not."""
    if call.era is Era.SESSION:
        return True
    version = request.headers.get("MCP-Protocol-Version", "")
    dialect = Dialect(era=call.era, version=version, client=OUR_NAME)
    due = dialect.call(0, watch.tool(call.name), call.arguments).headers
    return all(request.headers.get(name) == value for name, value in due.items() if name.lower().startswith("mcp-"))


def _form_of(content_type: str) -> Form | None:
    essence = content_type.partition(";")[0].strip().lower()
    return next((form for form in Form if form.value == essence), None)
