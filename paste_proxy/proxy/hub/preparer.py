"""Gets things ready in the background: a few at once, none for long, and nobody waits for it.

What cannot be had is counted, and left to the call that needs it to find out.
"""

import asyncio
from collections import OrderedDict

import structlog

from paste_proxy.clock import Clock
from paste_proxy.proxy.hub.preparation_tally import PreparationTally
from paste_proxy.speculation.preparation import Need
from paste_proxy.tools.backend import Preparable

log = structlog.get_logger(__name__)

AT_ONCE = 4
KEPT_S = 600.0
"""What was got ready longer ago is not said to have been found."""
_LONGEST_S = 30.0
_REMEMBERED = 256


class Preparer:
    """Owns the tasks, and knows what they made ready."""

    def __init__(self, tally: PreparationTally, clock: Clock) -> None:
        self._tally, self._clock = tally, clock
        self._tasks: set[asyncio.Task[None]] = set()
        self._ready: OrderedDict[Need, float] = OrderedDict()
        """What no call has found yet, and since when it is ready."""

    def prepare(self, what: Preparable) -> None:
        """Get it ready, if there is room for that now."""
        if len(self._tasks) >= AT_ONCE:
            return
        task = asyncio.create_task(self._prepare(what), name=f"prepare-{what.need.kind}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def used(self, what: Preparable) -> None:
        """A call uses it now."""
        since = self._ready.get(what.need)
        if since is None:
            return
        del self._ready[what.need]
        if what.ready and self._clock.monotonic() - since <= KEPT_S:
            self._tally.found[what.need.kind.value] += 1

    async def close(self) -> None:
        """Stop all that is under way."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _prepare(self, what: Preparable) -> None:
        kind = what.need.kind
        try:
            async with asyncio.timeout(_LONGEST_S):
                prepared = await what.prepare()
        except Exception as fault:  # noqa: BLE001 - whatever breaks here, calls go on
            self._tally.failed[kind.value] += 1
            log.debug("not_prepared", kind=kind, fault=type(fault).__name__)
            return
        if not prepared:
            return
        self._tally.prepared[kind.value] += 1
        self._ready[what.need] = self._clock.monotonic()
        self._ready.move_to_end(what.need)
        if len(self._ready) > _REMEMBERED:
            self._ready.popitem(last=False)
