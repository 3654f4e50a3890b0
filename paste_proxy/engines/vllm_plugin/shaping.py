"""In-engine load shaping (PASTE 4.3), around each step of a vLLM scheduler: in which order turns that wait are taken,
and how many.

It touches two things of the scheduler, the order of its queue and its bound of running turns, and leaves all else to
it. Turns that the engine has begun, preempted ones and parked sessions keep their places in front. A fault of ours is
counted, and the step is the engine's own.
"""

from itertools import islice
from time import time
from typing import Any

from paste_proxy.engines.vllm_plugin.order import Waiting, in_order, task_of
from paste_proxy.engines.vllm_plugin.parking import Parking, is_parked
from paste_proxy.engines.vllm_plugin.pressure import Capacity, admitted
from paste_proxy.engines.vllm_plugin.settings import Settings
from paste_proxy.turns.lengths import Lengths

_WINDOW = 512
"""Of the turns that wait, so many are put in order at a step; the rest waits behind them as it came."""


class LoadShaping:
    """Of one scheduler.

    Args:
        scheduler: vLLM's.
        parking: its parked sessions.
    """

    def __init__(self, scheduler: Any, settings: Settings, parking: Parking) -> None:
        self._scheduler, self._settings, self._parking = scheduler, settings, parking
        self._knob = "max_num_active_reqs" if hasattr(scheduler, "max_num_active_reqs") else "max_num_running_reqs"
        self._most: int = getattr(scheduler, self._knob)
        self._capacity = Capacity(
            turns=scheduler.max_num_running_reqs,
            tokens=scheduler.cache_config.num_gpu_blocks * scheduler.block_size,
            gamma=settings.gamma,
        )
        self._in_order = getattr(getattr(scheduler, "policy", None), "name", "FCFS") == "FCFS"
        """Where the engine goes by priorities, it keeps its order."""
        self._lengths = Lengths()
        self.counts = dict.fromkeys(("steps", "holding_steps", "reordered", "late", "faults"), 0)

    @property
    def pressure(self) -> float:
        """EnginePressure of what runs now."""
        running = self._scheduler.running
        return self._capacity.share(sum(map(self._context, running)), len(running))

    def before_step(self) -> None:
        """Put what waits in order, and set how many turns may run."""
        scheduler = self._scheduler
        self.counts["steps"] += 1
        self._parking.before_step()
        room = self._most + self._parking.released
        if scheduler.waiting:
            room = min(room, self._room(time()))
        setattr(scheduler, self._knob, room)

    def after_step(self, scheduled: Any) -> None:
        """The engine has taken what it wanted."""
        self.as_native()
        self._parking.after_step(scheduled)

    def as_native(self) -> None:
        """Give the scheduler back its own bound."""
        setattr(self._scheduler, self._knob, self._most)

    def ended(self, request: Any) -> None:
        """A request is over: what it came to is learned."""
        self._lengths.seen(task_of(_arguments(request)).name, request.num_output_tokens)

    def _room(self, now: float) -> int:
        """How many turns may run, those that do included; `waiting` is in order then."""
        scheduler, settings = self._scheduler, self._settings
        looked_at = list(islice(scheduler.waiting, _WINDOW))
        begun = [request for request in looked_at if not self._is_fresh(request)]
        fresh = [request for request in looked_at if self._is_fresh(request)]
        turns = [self._waiting(request) for request in fresh]
        if self._in_order:
            places = in_order(turns, now, settings.longest_s)
            fresh, turns = [fresh[place] for place in places], [turns[place] for place in places]
            self._reorder(looked_at, begun + fresh)
        ready = sum(not is_parked(request) for request in [*begun, *scheduler.kv_holding_waiting])
        count = admitted(
            turns,
            self.pressure,
            settings.band,
            busy=bool(scheduler.running or ready),
            now=now,
            longest_s=settings.longest_s,
        )
        if count < len(turns):
            self.counts["holding_steps"] += 1
        elif len(scheduler.waiting) > len(looked_at):
            return self._most + self._parking.released
        self.counts["late"] += sum(now - turn.since >= settings.longest_s for turn in turns[:count])
        return len(scheduler.running) + int(scheduler.num_waiting_for_streaming_input) + ready + count

    def _reorder(self, before: list[Any], wanted: list[Any]) -> None:
        if all(one is other for one, other in zip(before, wanted, strict=True)):
            return
        self.counts["reordered"] += 1
        queue = self._scheduler.waiting
        for _ in before:
            queue.popleft()
        queue.extendleft(reversed(wanted))

    def _waiting(self, request: Any) -> Waiting:
        task = task_of(_arguments(request))
        return Waiting(
            since=request.arrival_time,
            head_start_s=task.head_start_s(self._settings.head_start_s),
            share=self._capacity.share(self._context(request)),
        )

    def _is_fresh(self, request: Any) -> bool:
        """Whether the engine has done nothing for it yet; what waits for its grammar is about to be ready."""
        waits = request.status.name in ("WAITING", "WAITING_FOR_STRUCTURED_OUTPUT_GRAMMAR")
        begun = request.num_computed_tokens or request.num_preemptions or self._parking.returns(request)
        return waits and not begun

    def _context(self, request: Any) -> float:
        """Tokens that its context will come to."""
        expected = min(self._lengths.expected(task_of(_arguments(request)).name), request.max_tokens)
        return float(request.num_prompt_tokens + max(expected, request.num_output_tokens))


def _arguments(request: Any) -> dict[str, object] | None:
    """Its `vllm_xargs`."""
    arguments: dict[str, object] | None = request.sampling_params.extra_args if request.sampling_params else None
    return arguments
