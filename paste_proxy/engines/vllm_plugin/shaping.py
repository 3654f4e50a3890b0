"""In-engine load shaping (PASTE 4.3), around each step of a vLLM scheduler: in which order turns that wait are taken,
and how many.

It touches two things of the scheduler, the order of its queue and its bound of running turns, and leaves all else to
it. A turn finds its place when it comes, since ranks never change. Turns that the engine has begun, preempted ones and
parked sessions keep their places in front.
"""

from collections.abc import Iterator
from itertools import islice
from time import time
from typing import Any

from paste_proxy.engines.vllm_plugin.order import Task, goes_before, task_of
from paste_proxy.engines.vllm_plugin.parking import Parking, is_parked
from paste_proxy.engines.vllm_plugin.pressure import Capacity, Waiting, admitted
from paste_proxy.engines.vllm_plugin.settings import Settings
from paste_proxy.turns.lengths import Lengths


class LoadShaping:
    """Of one scheduler.

    Args:
        scheduler: vLLM's.
        parking: its parked sessions.
    """

    def __init__(self, scheduler: Any, settings: Settings, parking: Parking) -> None:
        self._scheduler, self._settings, self._parking = scheduler, settings, parking
        self._most: int = scheduler.max_num_active_reqs
        self._capacity = Capacity(
            turns=scheduler.max_num_running_reqs,
            tokens=scheduler.cache_config.num_gpu_blocks * scheduler.block_size,
            gamma=settings.gamma,
        )
        self._in_order = scheduler.policy.name == "FCFS"
        """Where the engine goes by priorities, it keeps its order."""
        self._lengths = Lengths()
        self._expected: dict[str, float] = {}
        """Tokens that the answers of requests may come to."""
        self.counts = dict.fromkeys(("steps", "holding_steps", "reordered", "faults"), 0)

    @property
    def pressure(self) -> float:
        """EnginePressure of what runs now."""
        running = self._scheduler.running
        return self._capacity.share(sum(map(self._context, running)), len(running))

    def came(self, request: Any) -> None:
        """A request is at the end of the queue, if it waits there: give it its place."""
        self._expected[request.request_id] = min(self._lengths.expected(_task(request).name), request.max_tokens)
        queue = self._scheduler.waiting
        if not self._in_order or not queue or queue[-1] is not request or not self._is_fresh(request):
            return
        before = goes_before(self._rank(request), map(self._rank_if_fresh, islice(reversed(queue), 1, None)))
        if before:
            self.counts["reordered"] += 1
            queue.pop()
            queue.insert(len(queue) - before, request)

    def before_step(self) -> None:
        """Set how many turns may run."""
        self.counts["steps"] += 1
        self._parking.before_step()
        room = self._most + self._parking.released
        if self._settings.band is not None and self._scheduler.waiting:
            room = min(room, self._room())
        self._scheduler.max_num_active_reqs = room

    def after_step(self, scheduled: Any) -> None:
        """The engine has taken what it wanted."""
        self._parking.after_step(scheduled)

    def as_native(self) -> None:
        """Give the scheduler back its own bound."""
        self._scheduler.max_num_active_reqs = self._most

    def ended(self, request: Any) -> None:
        """A request is over: what it came to is learned."""
        self._expected.pop(request.request_id, None)
        self._lengths.seen(_task(request).name, request.num_output_tokens)

    def _room(self) -> int:
        """How many turns the band lets run, those that do included."""
        scheduler, settings, now = self._scheduler, self._settings, time()
        fresh: list[Any] = []
        ready = sum(not is_parked(request) for request in scheduler.kv_holding_waiting)
        for request in scheduler.waiting:
            if len(fresh) == self._most:
                break
            if self._is_fresh(request):
                fresh.append(request)
            elif not is_parked(request):
                ready += 1
        assert settings.band is not None
        count = admitted(
            self._waiting(fresh),
            self.pressure,
            settings.band,
            busy=bool(scheduler.running or ready),
            now=now,
            longest_s=settings.longest_s,
        )
        self.counts["holding_steps"] += count < len(fresh)
        return len(scheduler.running) + int(scheduler.num_waiting_for_streaming_input) + ready + count

    def _waiting(self, requests: list[Any]) -> Iterator[Waiting]:
        for request in requests:
            yield Waiting(since=request.arrival_time, share=self._capacity.share(self._context(request)))

    def _rank(self, request: Any) -> float:
        rank: float = request.arrival_time - _task(request).head_start_s(self._settings.head_start_s)
        return rank

    def _rank_if_fresh(self, request: Any) -> float | None:
        return self._rank(request) if self._is_fresh(request) else None

    def _is_fresh(self, request: Any) -> bool:
        """Whether the engine has done nothing for it yet; what waits for its grammar is about to be ready."""
        waits = request.status.name in ("WAITING", "WAITING_FOR_STRUCTURED_OUTPUT_GRAMMAR")
        begun = request.num_computed_tokens or request.num_preemptions or self._parking.returns(request)
        return waits and not begun

    def _context(self, request: Any) -> float:
        """Tokens that its context will come to."""
        expected = self._expected.get(request.request_id, 0.0)
        return float(request.num_prompt_tokens + max(expected, request.num_output_tokens))


def _task(request: Any) -> Task:
    return task_of(request.sampling_params.extra_args if request.sampling_params else None)
