"""The connection to an OpenAI-compatible endpoint.

It talks to the host that was configured and to no other: it follows no redirect and takes no proxy, key or
organisation from the environment but the key named.
"""

import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import httpx2
from openai import AsyncOpenAI, DefaultAsyncHttpxClient

from paste_proxy.errors import UpstreamFault
from paste_proxy.events.values import Json

_ANSWER_BYTES = 2**20
"""Far beyond what a call takes."""
_NO_KEY = "none"
"""Local servers ask for none, the client for something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where the speculative LLM is."""

    base_url: str
    model: str
    key: str | None = field(default=None, repr=False)
    parameters: dict[str, Json] = field(default_factory=dict)
    """Sent with every request."""
    proxy: str | None = None


def client_of(endpoint: Endpoint) -> AsyncOpenAI:
    """A client of the endpoint; reads certificates, so to be made before the event loop runs."""
    for chatty in ("openai", "httpx2", "httpcore2"):
        logging.getLogger(chatty).setLevel(logging.WARNING)  # they log what is asked, and every request
    web = DefaultAsyncHttpxClient(
        trust_env=False,
        follow_redirects=False,
        proxy=endpoint.proxy,
        headers={"accept-encoding": "identity"},
        event_hooks={"response": [_bound]},
    )
    client = AsyncOpenAI(
        base_url=endpoint.base_url, api_key=endpoint.key or _NO_KEY, max_retries=0, timeout=None, http_client=web
    )
    client.organization = client.project = None
    return client


async def _bound(response: httpx2.Response) -> None:
    if response.headers.get("content-encoding", "identity") != "identity":
        raise UpstreamFault("its answer is compressed, unasked")
    stream = response.stream
    assert isinstance(stream, httpx2.AsyncByteStream)
    response.stream = _Bounded(stream)


class _Bounded(httpx2.AsyncByteStream):
    """A body that breaks where it grows beyond all reason."""

    def __init__(self, body: httpx2.AsyncByteStream) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._body:
            size += len(chunk)
            if size > _ANSWER_BYTES:
                raise UpstreamFault(f"its answer is longer than {_ANSWER_BYTES} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._body.aclose()
