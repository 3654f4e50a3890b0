"""Parked sessions never stand in anybody's way: what they hold of the KV cache is given up when it is needed.

A session that waits for its next input keeps its context in the cache, which is what makes it fast, and for which
vLLM has others wait without end. Here, once a turn cannot be taken for want of room, or running ones would be thrown
out, the context of the session parked longest is released, one at a step. The session stays: its next input is served
as if it had been preempted, its context found in the prefix cache or computed again, so that nothing of what it
answers changes. The price is that computation.
"""

from time import monotonic
from typing import Any


def is_parked(request: Any) -> bool:
    """Whether it waits for its next input."""
    return bool(request.status.name == "WAITING_FOR_STREAMING_REQ")


class Parking:
    """The parked sessions of one scheduler.

    Args:
        scheduler: vLLM's.
        most: turns that may run.
    """

    def __init__(self, scheduler: Any, most: int) -> None:
        self._scheduler, self._most = scheduler, most
        self._since: dict[str, float] = {}
        """Sessions that are parked and hold a part of the cache, by when they were parked: longest first."""
        self._computed: dict[str, int] = {}
        """Of those that hold nothing any more, how many tokens had been computed."""
        self._returning: set[str] = set()
        """Those of them that have got their next input."""
        self._stuck = False
        self.counts = {"parked": 0, "released": 0}

    @property
    def released(self) -> int:
        """Sessions that are parked and hold nothing."""
        return len(self._computed)

    @property
    def holding(self) -> int:
        """Sessions that are parked and hold a part of the cache."""
        return len(self._since)

    def returns(self, request: Any) -> bool:
        """Whether it is a session that comes back after it was released."""
        return request.request_id in self._returning

    def parked(self, request: Any) -> None:
        """A turn of the session has ended, and there is no input for the next."""
        self.counts["parked"] += 1
        self._since[request.request_id] = monotonic()

    def continues(self, request: Any) -> int | None:
        """Its next input has come; how many of its tokens had been computed, where they are no longer held."""
        self._since.pop(request.request_id, None)
        computed = self._computed.pop(request.request_id, None)
        if computed is not None:
            self._returning.add(request.request_id)
        return computed

    def over(self, request: Any) -> None:
        """It has ended, or was given up."""
        self._since.pop(request.request_id, None)
        self._computed.pop(request.request_id, None)
        self._returning.discard(request.request_id)

    def before_step(self) -> None:
        """Release the one that was parked longest, if somebody needs the room."""
        if self._since and (self._stuck or self._running_need_room() or self._no_slot()):
            self._release()

    def after_step(self, scheduled: Any) -> None:
        """See who was taken."""
        self._returning.difference_update(request.req_id for request in scheduled.scheduled_new_reqs)
        self._stuck = bool(self._since) and not scheduled.scheduled_new_reqs and self._wants_more_than_is_free()

    def _running_need_room(self) -> bool:
        """Whether the next token of each that runs could need more blocks than are free."""
        running = len(self._scheduler.running)
        return running > 0 and self._free_blocks() <= running

    def _no_slot(self) -> bool:
        scheduler = self._scheduler
        taken = len(scheduler.running) + len(self._since)
        return taken >= self._most and len(scheduler.waiting) > len(self._computed)

    def _wants_more_than_is_free(self) -> bool:
        """Whether the first that waits and is ready does not fit in."""
        scheduler = self._scheduler
        for queue in (scheduler.kv_holding_waiting, scheduler.waiting):
            for request in queue:
                if not is_parked(request):
                    lacking = request.num_tokens - request.num_computed_tokens
                    return bool(-(-lacking // scheduler.block_size) + 1 > self._free_blocks())
        return False

    def _release(self) -> None:
        scheduler = self._scheduler
        for request_id in self._since:
            request = scheduler.requests.get(request_id)
            if request is not None and is_parked(request) and not request.num_in_flight_tokens:
                break
        else:
            return
        del self._since[request_id]
        self._computed[request_id] = request.num_computed_tokens
        self.counts["released"] += 1
        scheduler._free_request_blocks(request)
        scheduler.encoder_cache_manager.free(request)
        request.num_computed_tokens = 0
        scheduler.kv_holding_waiting.remove_requests([request])
        scheduler.waiting.prepend_request(request)

    def _free_blocks(self) -> int:
        free: int = self._scheduler.kv_cache_manager.block_pool.get_num_free_blocks()
        return free
