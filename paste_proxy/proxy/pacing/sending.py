"""Sends engines what they are told ahead of agents. Nobody waits for it: what breaks is counted, and that is all."""

import asyncio
from collections.abc import Coroutine
from typing import Any
from urllib.parse import quote

from aiohttp import ClientError, ClientSession

from paste_proxy.clock import Clock
from paste_proxy.events.values import dumps
from paste_proxy.proxy.http.outgoing import as_written
from paste_proxy.proxy.http.relay import upstream_session
from paste_proxy.proxy.hub.engine_desk import Sent
from paste_proxy.proxy.hub.tool_cache_desk import GiveOutput
from paste_proxy.proxy.hub.warming_desk import GiveUp, WarmUp
from paste_proxy.proxy.hub.warming_tally import WarmingTally
from paste_proxy.proxy.ports import Again

_LONGEST_S = 60.0
_NOT_COPIED = {
    *("content-length", "content-type", "accept-encoding", "expect"),
    *("idempotency-key", "x-idempotency-key", "x-request-id", "x-client-request-id"),
}
"""What is of one request alone."""
_MOST_BYTES = 2**16
"""Of an answer that is read, so that its connection can be used again."""


class Sender:
    """Made on the running loop.

    Args:
        tally: told what was sent and what became of it.
    """

    def __init__(self, tally: WarmingTally, clock: Clock) -> None:
        self._tally, self._clock = tally, clock
        self._pools: dict[str | None, ClientSession] = {}
        self._of_session: dict[str, asyncio.Task[None]] = {}
        self._under_way: set[asyncio.Task[None]] = set()

    def send(self, sent: Sent) -> None:
        """Begin to send it, or give up what is under way."""
        match sent:
            case GiveUp(session=session):
                under_way = self._of_session.pop(session, None)
                if under_way is not None:
                    under_way.cancel()
            case WarmUp(session=session, again=again, body=body):
                task = self._of_session[session] = self._begin(self._warm(again, body))
                task.add_done_callback(lambda done: self._over(session, done))
            case GiveOutput():
                self._begin(self._give(sent))

    async def close(self) -> None:
        """Give up everything."""
        for task in self._under_way:
            task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)
        for pool in self._pools.values():
            await pool.close()

    def _begin(self, sending: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(sending)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return task

    def _over(self, session: str, done: asyncio.Task[None]) -> None:
        if self._of_session.get(session) is done:
            del self._of_session[session]

    async def _warm(self, again: Again, body: bytes) -> None:
        began = self._clock.monotonic()
        try:
            if not await self._post(again, again.target, body):
                self._tally.failed += 1
        finally:
            self._tally.seconds += self._clock.monotonic() - began

    async def _give(self, given: GiveOutput) -> None:
        entry = {"name": given.name, "params": given.arguments, "output": given.output}
        above = given.again.target.partition("?")[0].removesuffix("/chat/completions").removesuffix("/v1")
        target = f"{above}/cache-tool-output/{quote(given.response_id, safe='')}"
        self._tally.outputs += await self._post(given.again, target, dumps([entry]))

    async def _post(self, again: Again, target: str, body: bytes) -> bool:
        pool = self._pools.get(again.proxy)
        if pool is None:
            pool = self._pools[again.proxy] = upstream_session(again.proxy)
        headers = [(name, value) for name, value in again.headers if name.lower() not in _NOT_COPIED]
        headers.append(("Content-Type", "application/json"))
        try:
            async with (
                asyncio.timeout(_LONGEST_S),
                pool.post(as_written(target), data=body, headers=headers, allow_redirects=False) as answer,
            ):
                await answer.content.read(_MOST_BYTES)
                return answer.ok
        except (ClientError, OSError, ValueError):
            return False
