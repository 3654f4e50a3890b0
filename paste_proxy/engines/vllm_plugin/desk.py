"""Where outputs that clients foresaw and responses that are being written meet."""

import asyncio
import logging
from collections import Counter, OrderedDict
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import TypeAlias

from paste_proxy.clock import Clock, SystemClock
from paste_proxy.engines.vllm_plugin.entries import Entry, ToolOutputs
from paste_proxy.events.invocation import Invocation

_LOG = logging.getLogger("vllm.paste")
_ENDED = 64
_ENDED_S = 30.0
"""So many responses that have ended are remembered for so long."""

Warm: TypeAlias = Callable[[list[str]], Coroutine[None, None, None]]
"""Gets the engine ready for the request that holds these outputs."""


class Desk:
    """Of one API server.

    Args:
        most_bytes: of all outputs.
    """

    def __init__(self, most_bytes: int, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._outputs = ToolOutputs(most_bytes)
        self._waiting: dict[str, asyncio.Event] = {}
        self._ended: OrderedDict[str, tuple[float, Sequence[Invocation], Warm]] = OrderedDict()
        self._warming: set[asyncio.Task[None]] = set()
        self.counts: Counter[str] = Counter()

    def now(self) -> float:
        """Seconds by the clock that leases are kept by."""
        return self._clock.monotonic()

    def put(self, response: str, entries: Sequence[Entry]) -> int:
        """Keep outputs for a response; how many are of use.

        Those for a response that has just ended with exactly those calls get the engine ready for what follows.
        """
        kept = self._outputs.put(response, entries, self.now())
        self.counts["entries"] += kept
        event = self._waiting.get(response)
        if event is not None:
            event.set()
        ended = self._just_ended(response)
        if ended is None:
            return kept
        calls, warm = ended
        outputs = self._outputs.take(response, calls, self.now())
        if outputs is None:
            return kept
        del self._ended[response]
        self.counts["warmed"] += 1
        task = asyncio.create_task(warm(outputs))
        self._warming.add(task)
        task.add_done_callback(self._warming.discard)
        return kept

    def has(self, response: str) -> bool:
        """Whether outputs wait for it."""
        return self._outputs.has(response)

    async def take(self, response: str, calls: Sequence[Invocation], linger_s: float) -> list[str] | None:
        """The outputs of all `calls`, for which it is waited up to `linger_s`; None: some are not known."""
        outputs = self._outputs.take(response, calls, self.now())
        if outputs is not None or linger_s <= 0:
            return outputs
        event = self._waiting.setdefault(response, asyncio.Event())
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(linger_s):
                    while outputs is None:
                        event.clear()
                        await event.wait()
                        outputs = self._outputs.take(response, calls, self.now())
        finally:
            self._waiting.pop(response, None)
        return outputs

    def ended(self, response: str, calls: Sequence[Invocation], warm: Warm) -> None:
        """A response has ended with calls that the client is to run."""
        self._ended[response] = self.now(), calls, warm
        while len(self._ended) > _ENDED:
            self._ended.popitem(last=False)

    def forget(self, response: str) -> None:
        """A response is over, in whichever way."""
        self._outputs.forget(response)

    def fault(self, what: str) -> None:
        """Something of ours broke, which is being handled; the first is logged."""
        self.counts["faults"] += 1
        if self.counts["faults"] == 1:
            _LOG.exception("PASTE: %s; the server goes on by itself", what)

    def state(self) -> dict[str, int]:
        """What was done, and what is held."""
        return {
            **self.counts,
            "held": len(self._outputs),
            "held_bytes": self._outputs.held_bytes,
            "evicted": self._outputs.evicted,
            "lingering": len(self._waiting),
        }

    def _just_ended(self, response: str) -> tuple[Sequence[Invocation], Warm] | None:
        while self._ended and next(iter(self._ended.values()))[0] < self.now() - _ENDED_S:
            self._ended.popitem(last=False)
        ended = self._ended.get(response)
        return ended[1:] if ended else None
