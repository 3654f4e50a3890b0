"""Asks an engine for its load."""

import asyncio
from dataclasses import replace
from http import HTTPStatus
from urllib.parse import urljoin

import aiohttp

from paste_proxy.engines.forms import FORMS
from paste_proxy.engines.kinds import EngineKind
from paste_proxy.engines.loads import LoadParser
from paste_proxy.engines.slots import kv_used
from paste_proxy.errors import UpstreamFault, place_of
from paste_proxy.tools.client_fault import words_of
from paste_proxy.turns.types import EngineLoad

_LONGEST_S = 2.0
_LEAST_S = 0.001
"""Less than nothing would be for ever."""
_MOST_BYTES = 4 * 2**20


def metrics_address(kind: EngineKind, upstream: str) -> str | None:
    """Where an engine tells its load, by the address that turns are sent to; None: that kind does not."""
    return urljoin(upstream, "/metrics") if kind in FORMS else None


class LoadReader:
    """Asks one engine, again and again.

    Args:
        metrics: the address of its metrics page.
        session: shared; closed by whoever made it.
    """

    def __init__(self, kind: EngineKind, metrics: str, *, session: aiohttp.ClientSession) -> None:
        self._metrics, self._session = metrics, session
        self._parser = LoadParser(kind) if kind in FORMS else None
        self._slots = urljoin(metrics, "slots") if kind is EngineKind.LLAMA_CPP else None

    async def read(self) -> EngineLoad:
        """What it says now.

        Raises:
            UpstreamFault: it did not answer in time, or with what is no metrics page of its kind.
        """
        place = place_of(self._metrics)
        if self._parser is None:
            raise UpstreamFault(f"{place}: its metrics have no form that is known; name the engine's kind")
        until = asyncio.get_running_loop().time() + _LONGEST_S
        page = await self._get(self._metrics, until)
        try:
            load = self._parser.read(page.decode())
        except UnicodeDecodeError as fault:
            raise UpstreamFault(f"{place}: what it answers is no text; expected a metrics page") from fault
        except UpstreamFault as fault:
            raise UpstreamFault(f"{place}: {fault}") from fault
        if self._slots is None or load.kv_used is not None:
            return load
        return replace(load, kv_used=await self._kv_used(self._slots, until))

    async def _kv_used(self, slots: str, until: float) -> float | None:
        """A server may be told not to offer it."""
        try:
            return kv_used(await self._get(slots, until))
        except UpstreamFault:
            return None

    async def _get(self, address: str, until: float) -> bytes:
        place = place_of(address)
        left_s = until - asyncio.get_running_loop().time()
        request = self._session.get(
            address,
            allow_redirects=False,
            headers={"Accept": "text/plain, application/json", "Accept-Encoding": "identity"},
            timeout=aiohttp.ClientTimeout(total=max(left_s, _LEAST_S)),
        )
        try:
            async with request as response:
                if response.status != HTTPStatus.OK:
                    raise UpstreamFault(f"{place}: it answers with status {response.status}; expected 200")
                return await _whole(response, place)
        except TimeoutError as fault:
            raise UpstreamFault(f"{place} did not answer within {_LONGEST_S:g} s") from fault
        except aiohttp.ClientError as fault:
            raise UpstreamFault(f"{place} cannot be reached or broke off ({words_of(fault)})") from fault


async def _whole(response: aiohttp.ClientResponse, place: str) -> bytes:
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) > _MOST_BYTES:
            raise UpstreamFault(f"{place}: its answer is longer than {_MOST_BYTES} bytes")
    return bytes(body)
