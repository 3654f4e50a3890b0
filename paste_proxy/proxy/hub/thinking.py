"""Where predictions are worked out: beside the event loop, so that no call waits for one.

One thread takes one thought after the other, so that each session's come in order and what predictors hold has one
owner. A thought that a newer one has made moot before its turn came is only remembered.
"""

import asyncio
import sys
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Protocol, TypeVar

import structlog

from paste_proxy.mining.prediction import Prediction
from paste_proxy.speculation.types import Told

log = structlog.get_logger(__name__)

_T = TypeVar("_T")
_HANDED_OVER_S = 0.0002
"""How long the event loop waits at most until the thread lets it have the interpreter; by default 25 times as long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought:
    """Something to be worked out from what a session's predictor holds."""

    work: Callable[[], Prediction]
    """In the thread: it touches nothing else."""
    meant: Callable[[Prediction], Sequence[Told]]
    """In the hub's task: what is to be told of it."""
    topic: Hashable = None
    """A later thought on the same topic makes it moot; None: nothing does."""
    past: Callable[[], None] = lambda: None
    """In the thread, in place of `work` where it is moot."""


@dataclass(frozen=True, slots=True)
class Foreseen:
    """A thought that has been worked out."""

    thought: Thought
    prediction: Prediction


class Thinking(Protocol):
    """Works thoughts out, in order."""

    def think(self, thought: Thought) -> Prediction | None:
        """What comes of it, or None: it is told later."""

    def do(self, act: Callable[[], None]) -> None:
        """Have something done of which nothing is to be told, in its turn."""


class AtOnce:
    """Works out everything where it is asked to."""

    def think(self, thought: Thought) -> Prediction:
        """See `Thinking`."""
        return thought.work()

    def do(self, act: Callable[[], None]) -> None:
        """See `Thinking`."""
        act()


class Thinker:
    """Works out everything in its thread. Made on the running loop.

    Args:
        tell: told on the loop of every thought that has been worked out.
        fault: called with a place for every one that broke.
    """

    def __init__(self, tell: Callable[[Foreseen], None], fault: Callable[[str], None]) -> None:
        self._tell, self._fault = tell, fault
        self._loop = asyncio.get_running_loop()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="thinker")
        self._numbers = count(1)
        self._latest: dict[Hashable, int] = {}
        sys.setswitchinterval(_HANDED_OVER_S)

    def think(self, thought: Thought) -> None:
        """Have it worked out in its turn."""
        number = next(self._numbers)
        if thought.topic is not None:
            self._latest[thought.topic] = number
        self._submit(partial(self._worked_out, thought, number), partial(self._thought, thought, number))

    def do(self, act: Callable[[], None]) -> None:
        """See `Thinking`."""
        self._submit(act, lambda _: None)

    async def had(self, act: Callable[[], _T]) -> _T:
        """What a function gives, in its turn."""
        return await asyncio.wrap_future(self._thread.submit(act))

    async def close(self) -> None:
        """Wait until everything is worked out."""
        await asyncio.to_thread(self._thread.shutdown)

    def _submit(self, act: Callable[[], _T], then: Callable[[_T], None]) -> None:
        def over(done: "Future[_T]") -> None:
            if not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._over, done, then)

        self._thread.submit(act).add_done_callback(over)

    def _worked_out(self, thought: Thought, number: int) -> Prediction | None:
        if thought.topic is not None and self._latest.get(thought.topic, number) != number:
            thought.past()
            return None
        return thought.work()

    def _thought(self, thought: Thought, number: int, prediction: Prediction | None) -> None:
        if self._latest.get(thought.topic) == number:
            del self._latest[thought.topic]
        if prediction is not None:
            self._tell(Foreseen(thought, prediction))

    def _over(self, done: "Future[_T]", then: Callable[[_T], None]) -> None:
        fault = done.exception()
        if fault is None:
            then(done.result())
            return
        self._fault("thinking")
        log.error("thinking_fault", exc_info=fault)
