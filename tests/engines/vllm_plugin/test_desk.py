"""Outputs come before, during and after the decoding of the response that they are for."""

import asyncio

from paste_proxy.clock import FakeClock
from paste_proxy.engines.vllm_plugin.desk import Desk
from paste_proxy.engines.vllm_plugin.entries import Entry
from paste_proxy.events.invocation import Invocation

CALL = Invocation("look", {"city": "Oslo"})
OUTPUT = Entry(name="look", params={"city": "Oslo"}, output="rain", until=1e6)


def desk(clock: FakeClock | None = None) -> Desk:
    return Desk(1_000_000, clock or FakeClock())


async def test_what_came_before_is_taken_at_once() -> None:
    one = desk()
    assert one.put("r", [OUTPUT]) == 1
    assert await one.take("r", [CALL], linger_s=0.0) == ["rain"]


async def test_nobody_waits_who_does_not_want_to() -> None:
    assert await desk().take("r", [CALL], linger_s=0.0) is None


async def test_a_response_that_lingers_gets_what_comes_in_time() -> None:
    one = desk()
    taking = asyncio.create_task(one.take("r", [CALL], linger_s=60.0))
    await asyncio.sleep(0)
    assert one.state()["lingering"] == 1
    one.put("r", [Entry(name="other", output="", until=1e6)])
    await asyncio.sleep(0)
    one.put("r", [OUTPUT])
    assert await taking == ["rain"]
    assert one.state()["lingering"] == 0


async def test_one_whose_client_goes_lingers_no_more() -> None:
    one = desk()
    taking = asyncio.create_task(one.take("r", [CALL], linger_s=60.0))
    await asyncio.sleep(0)
    taking.cancel()
    await asyncio.gather(taking, return_exceptions=True)
    assert one.state()["lingering"] == 0


async def test_what_comes_just_after_gets_the_engine_ready_once() -> None:
    one, warmed = desk(), list[list[str]]()

    async def warm(outputs: list[str]) -> None:
        warmed.append(outputs)

    one.ended("r", [CALL], warm)
    assert one.put("r", [OUTPUT]) == 1
    one.put("r", [OUTPUT])
    await asyncio.sleep(0)
    assert warmed == [["rain"]]


async def test_what_comes_long_after_gets_nothing_ready() -> None:
    clock, warmed = FakeClock(), list[list[str]]()

    async def warm(outputs: list[str]) -> None:
        warmed.append(outputs)

    one = desk(clock)
    one.ended("r", [CALL], warm)
    clock.advance(31.0)
    one.put("r", [OUTPUT])
    await asyncio.sleep(0)
    assert warmed == []
