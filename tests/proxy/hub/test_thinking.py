"""Thoughts are worked out beside the event loop, in order; what a newer one has made moot is only remembered."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from paste_proxy.events.candidate import Candidate
from paste_proxy.events.invocation import Invocation
from paste_proxy.mining.prediction import Prediction
from paste_proxy.proxy.hub.thinking import Foreseen, Thinker, Thought


@dataclass
class World:
    """A thinker, and what it does."""

    thinker: Thinker = field(init=False)
    told: list[str] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    free: threading.Event = field(default_factory=threading.Event)

    def hold(self) -> None:
        """Something that takes until `free`."""

        def wait() -> None:
            self.free.wait()
            self.done.append("held")

        self.thinker.do(wait)

    def thought(self, name: str, topic: str | None = None) -> Thought:
        return Thought(
            work=lambda: self._note(name),
            meant=lambda _: [],
            topic=topic,
            past=lambda: self.done.append(f"{name} passed"),
        )

    def _note(self, name: str) -> Prediction:
        self.done.append(name)
        return Prediction((Candidate(invocation=Invocation(name, {}), confidence=1.0, source="test"),))

    async def over(self) -> None:
        """All is worked out and told."""
        self.free.set()
        await self.thinker.had(lambda: None)
        for _ in range(5):
            await asyncio.sleep(0)


@asynccontextmanager
async def world() -> AsyncIterator[World]:
    made = World()

    def tell(foreseen: Foreseen) -> None:
        assert threading.current_thread() is threading.main_thread()
        made.told += [one.invocation.tool for one in foreseen.prediction.candidates]

    made.thinker = Thinker(tell, made.faults.append)
    try:
        yield made
    finally:
        made.free.set()
        await made.thinker.close()


async def test_the_loop_goes_on_while_something_is_thought_over() -> None:
    async with world() as w:
        w.hold()
        w.thinker.think(w.thought("one"))
        w.thinker.think(w.thought("two"))
        await asyncio.sleep(0)
        assert w.told == []
        await w.over()
        assert w.done == ["held", "one", "two"]
        assert w.told == ["one", "two"]


async def test_of_one_topic_the_latest_thought_counts_and_the_others_are_remembered() -> None:
    async with world() as w:
        w.hold()
        w.thinker.think(w.thought("old", "s"))
        w.thinker.think(w.thought("of another", "t"))
        w.thinker.think(w.thought("new", "s"))
        await w.over()
        assert w.done == ["held", "old passed", "of another", "new"]
        assert w.told == ["of another", "new"]
        w.thinker.think(w.thought("later", "s"))
        await w.over()
        assert w.told[-1] == "later"


async def test_one_that_breaks_is_counted_and_the_next_is_worked_out() -> None:
    async with world() as w:
        w.thinker.do(lambda: 1 // 0)  # type: ignore[arg-type]
        w.thinker.think(w.thought("next"))
        await w.over()
        assert (w.faults, w.told) == (["thinking"], ["next"])


async def test_what_was_begun_is_worked_out_before_it_closes() -> None:
    async with world() as w:
        w.hold()
        w.thinker.do(lambda: w.done.append("last"))
        closing = asyncio.create_task(w.thinker.close())
        w.free.set()
        await closing
        assert w.done == ["held", "last"]
