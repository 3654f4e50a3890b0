"""A tool behind a URL: its arguments are POSTed there as JSON, the answer's body is its result."""

import json
from collections.abc import Iterable
from http import HTTPStatus
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

from paste_proxy.errors import UpstreamFault, place_of
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status, ToolResult
from paste_proxy.tools.approach import Approach
from paste_proxy.tools.backend import Preparable
from paste_proxy.tools.client_fault import words_of
from paste_proxy.tools.loopback import is_loopback
from paste_proxy.tools.retry_after import retry_after_s


class HttpBackend:
    """Runs one tool by HTTP.

    Args:
        session: shared by all tools; closed by whoever made it.
        timeout_s: seconds for the whole exchange.
        speculative_bytes: an answer that nobody has asked for yet is read no further than this.
    """

    def __init__(
        self, session: aiohttp.ClientSession, url: str, *, timeout_s: float, speculative_bytes: int = 4 * 2**20
    ) -> None:
        self._session, self._url, self._place = session, url, place_of(url)
        self._timeout = aiohttp.ClientTimeout(total=timeout_s)
        self._speculative_bytes = speculative_bytes
        self._proxy = _proxy_of(url)
        self._approach = Approach(session, url, self._proxy)

    async def run(self, invocation: Invocation, *, speculative: bool) -> ToolResult:
        """The answer as it came; an HTTP status of 400 or more is the tool's own error.

        Raises:
            UpstreamFault: no connection, a broken or late answer.
        """
        request = self._session.post(
            self._url,
            data=json.dumps(invocation.arguments).encode(),
            headers={"content-type": "application/json"},
            timeout=self._timeout,
            proxy=self._proxy,
        )
        try:
            async with request as response:
                return ToolResult(
                    body=await self._read(response, self._speculative_bytes if speculative else None),
                    status=Status.ERROR if response.status >= HTTPStatus.BAD_REQUEST else Status.OK,
                    content_type=response.headers.get("content-type", "application/octet-stream"),
                    http_status=response.status,
                    retry_after_s=retry_after_s(response.headers),
                )
        except TimeoutError as fault:
            raise UpstreamFault(
                f"tool {invocation.tool!r}: {self._place} did not answer within {self._timeout.total:g} s; "
                f"mend it or raise the tool's timeout_s"
            ) from fault
        except aiohttp.ClientError as fault:
            raise UpstreamFault(
                f"tool {invocation.tool!r}: {self._place} cannot be reached or broke off ({words_of(fault)}); "
                "is it running?"
            ) from fault

    async def _read(self, response: aiohttp.ClientResponse, limit: int | None) -> bytes:
        if limit is None:
            return await response.read()
        body = bytearray()
        async for chunk in response.content.iter_any():
            body += chunk
            if len(body) > limit:
                raise UpstreamFault(f"{self._place}: a speculative answer is larger than {limit} bytes")
        return bytes(body)

    def needs(self, invocation: Invocation) -> Iterable[Preparable]:
        """A connection, the same for every call."""
        return (self._approach,) if self._approach.pays else ()

    async def close(self) -> None:
        """Nothing of its own to release."""


def _proxy_of(url: str) -> str | None:
    """The environment's proxy for a URL; never one for this very machine."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if is_loopback(host) or proxy_bypass(host):
        return None
    return getproxies().get(parts.scheme)
