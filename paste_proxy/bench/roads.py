"""The ways a replayed agent's tool calls go through the sidecar."""

from urllib.parse import quote

import aiohttp
import orjson

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status, ToolResult


class DispatchRoad:
    """One POST a call: the sidecar runs the tool."""

    def __init__(self, http: aiohttp.ClientSession, url: str, session: str) -> None:
        self._http = http
        self._base = f"{url}/paste/v1/sessions/{quote(session, safe='')}/tools"

    async def call(self, invocation: Invocation, call_id: str) -> ToolResult:
        """The answer's body and status."""
        url = f"{self._base}/{quote(invocation.tool, safe='')}"
        body = orjson.dumps(invocation.arguments)
        headers = {"content-type": "application/json", "x-paste-call-id": call_id}
        async with self._http.post(url, data=body, headers=headers) as answer:
            status = Status.OK if answer.status < 400 else Status.ERROR
            return ToolResult(body=await answer.read(), status=status, http_status=answer.status)
