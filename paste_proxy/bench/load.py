"""A closed-loop load generator on bare connections, so that what is measured is not the client."""

import asyncio
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from paste_proxy.bench.body import AnswerBody
from paste_proxy.errors import UpstreamFault

_STAMP = re.compile(rb'"t":"(\d{19})')
_STAMP_BYTES = 24
_PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class Sample:
    """One exchange, in nanoseconds."""

    first_ns: int
    """From the start of sending to the first byte of the answer."""
    total_ns: int
    delays_ns: tuple[int, ...]
    """Of each stamped chunk: from its writing at the origin to its arrival here."""


class Connection(asyncio.Protocol):
    """One keep-alive connection that carries one exchange at a time."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._done: asyncio.Future[Sample] | None = None
        self._answer = AnswerBody()
        self._began = self._first = self._scanned = 0
        self._delays: list[int] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Connected."""
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, fault: Exception | None) -> None:
        """An answer under way is broken."""
        self._transport = None
        if self._done is not None and not self._done.done():
            self._done.set_exception(
                UpstreamFault(f"connection lost after {len(self._answer.body)} bytes of an answer")
            )

    def data_received(self, data: bytes) -> None:
        """Stamp what arrives; finish with the answer's last byte."""
        now = time.monotonic_ns()
        self._first = self._first or now
        self._answer.feed(data)
        body = self._answer.body
        while (found := _STAMP.search(body, self._scanned)) is not None:
            self._delays.append(now - int(found[1]))
            self._scanned = found.end()
        self._scanned = max(self._scanned, len(body) - _STAMP_BYTES + 1)
        if self._answer.complete and self._done is not None and not self._done.done():
            self._done.set_result(Sample(self._first - self._began, now - self._began, tuple(self._delays)))

    async def exchange(self, request: bytes, chunks: int = 0) -> Sample:
        """Send a request and read its answer.

        Raises:
            UpstreamFault: the answer is not a 200, lacks chunks, breaks off or does not end.
        """
        if self._transport is None:
            raise UpstreamFault("the connection is closed")
        self._done = asyncio.get_running_loop().create_future()
        self._answer = AnswerBody()
        self._delays = []
        self._first = self._scanned = 0
        self._began = time.monotonic_ns()
        self._transport.write(request)
        async with asyncio.timeout(_PATIENCE_S):
            sample = await self._done
        if not self._answer.head.startswith(b"HTTP/1.1 200") or len(sample.delays_ns) != chunks:
            seen = f"{len(sample.delays_ns)} chunks: {self._answer.head!r}{bytes(self._answer.body[:200])!r}"
            raise UpstreamFault(f"unexpected answer with {seen}")
        return sample

    def close(self) -> None:
        """Hang up."""
        if self._transport is not None:
            self._transport.close()


async def connect(port: int) -> Connection:
    """A connection to a loopback port."""
    _, connection = await asyncio.get_running_loop().create_connection(Connection, "127.0.0.1", port)
    return connection


async def drive(
    port: int, request: Callable[[int], bytes], *, connections: int, requests: int, chunks: int, gap_s: float = 0.0
) -> list[Sample]:
    """Send `requests` in all over some connections.

    Args:
        port: where to.
        request: the bytes of the next request of a connection, given its number.
        connections: how many at once.
        requests: how many in all.
        chunks: stamped chunks that each answer must have.
        gap_s: pause between an answer and the next request of its connection.
    """
    left = iter(range(requests))
    samples: list[Sample] = []

    async def work(number: int) -> None:
        connection = await connect(port)
        try:
            for _ in left:
                samples.append(await connection.exchange(request(number), chunks))
                if gap_s:
                    await asyncio.sleep(gap_s)
        finally:
            connection.close()

    await asyncio.gather(*(work(number) for number in range(connections)))
    return samples
