"""One authoritative call in the agent's process, from the question to the sidecar to the answer.

How long a caller waits is decided once, in `decision`, for threads and tasks alike: it yields what to wait
for, and `wait_in_thread` or `wait_in_task` does the waiting.
"""

import asyncio
from collections.abc import Generator
from concurrent.futures import FIRST_COMPLETED, Future, InvalidStateError
from concurrent.futures import wait as wait_for_futures
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from paste_proxy.agents.sdk_jobs import Job, Tool
from paste_proxy.events.values import Json


@dataclass(frozen=True, slots=True)
class Own:
    """The agent runs the call itself; `why`, if it is not because the sidecar said so."""

    why: Literal["told", "absent", "slow", "lost", "missing"]


@dataclass(frozen=True, slots=True)
class Take:
    """The job's value, or its exception, is the call's."""

    job: Job
    outcome: Literal["reused", "promoted"]


@dataclass(frozen=True, slots=True)
class Hold:
    """The decision may take as long as `job` runs; it comes in `then`."""

    job: Job
    then: "Future[Answer]" = field(default_factory=Future)


Answer: TypeAlias = Own | Take | Hold


@dataclass(slots=True, eq=False)
class Call:
    """A call that is not over. `pending` belongs to the link, `answer` to the caller."""

    number: int
    session: str
    tool: Tool
    arguments: dict[str, Json] | None
    call_id: str | None
    ahead: bool = True
    """Whether anything may be run ahead for its session."""
    answer: Future[Answer] = field(default_factory=Future)
    pending: Future[Answer] = field(init=False)
    """What the next message about this call resolves."""

    def __post_init__(self) -> None:
        self.pending = self.answer

    def resolve(self, answer: Answer) -> bool:
        """Give the caller an answer; False if it no longer waits for one."""
        pending = self.pending
        if isinstance(answer, Hold):
            self.pending = answer.then
        try:
            pending.set_result(answer)
        except InvalidStateError:
            return False
        return True


@dataclass(frozen=True, slots=True)
class Until:
    """Wait until one of these is done, or so many seconds."""

    futures: tuple[Future[Any], ...]
    seconds: float | None


def decision(call: Call, patience_s: float) -> Generator[Until, None, Own | Take]:
    """The answer for a call: no longer than `patience_s` without a sign, and as long as a job it may be promoted to."""
    yield Until((call.answer,), patience_s)
    answer = _settled(call.answer)
    if isinstance(answer, Hold):
        yield Until((answer.job.ended, answer.then), None)
        yield Until((answer.then,), patience_s)
        answer = _settled(answer.then)
    if isinstance(answer, Hold):
        return Own("slow")
    if isinstance(answer, Take):
        yield Until((answer.job.ended,), None)
    return answer


def _settled(future: Future[Answer]) -> Answer:
    """What came, or `Own` for good if nothing did: a later answer finds nobody waiting."""
    return Own("slow") if future.cancel() else future.result()


def wait_in_thread(steps: Generator[Until, None, Own | Take]) -> Own | Take:
    """Run `decision` in a thread."""
    try:
        while True:
            until = next(steps)
            wait_for_futures(until.futures, until.seconds, FIRST_COMPLETED)
    except StopIteration as end:
        answer: Own | Take = end.value
        return answer


async def wait_in_task(steps: Generator[Until, None, Own | Take]) -> Own | Take:
    """Run `decision` in an asyncio task."""
    try:
        while True:
            until = next(steps)
            await _first(until)
    except StopIteration as end:
        answer: Own | Take = end.value
        return answer


async def _first(until: Until) -> None:
    loop = asyncio.get_running_loop()
    done = asyncio.Event()

    def wake(_: Future[Any]) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(done.set)

    for future in until.futures:
        future.add_done_callback(wake)
    try:
        async with asyncio.timeout(until.seconds):
            await done.wait()
    except TimeoutError:
        return
