"""Between a client and a stdio server: lines untouched, in order, calls asked about."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult
from paste_proxy.proxy.mcp.pump import McpPump
from paste_proxy.proxy.mcp.watch import McpWatch
from paste_proxy.proxy.ports import AgentCall, Decision
from paste_proxy.testing import FakeGate
from paste_proxy.tools.mcp_child import Child
from tests.peers.scripts import SCRIPTED


class Wire:
    """The client's end."""

    def __init__(self) -> None:
        self._sent: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._got: asyncio.Queue[bytes] = asyncio.Queue()

    def say(self, line: bytes) -> None:
        self._sent.put_nowait(line)

    def end(self) -> None:
        self._sent.put_nowait(None)

    async def hear(self) -> bytes:
        async with asyncio.timeout(5):
            return await self._got.get()

    async def write(self, line: bytes) -> None:
        self._got.put_nowait(line)

    async def lines(self) -> AsyncIterator[bytes]:
        while (line := await self._sent.get()) is not None:
            yield line


@asynccontextmanager
async def pumped(gate: FakeGate) -> AsyncIterator[tuple[Wire, "asyncio.Task[int]"]]:
    faults: list[str] = []
    wire = Wire()
    child = await Child.start("s", SCRIPTED)
    pump = McpPump(child, McpWatch(gate, "s", "scope", None), wire.write, faults.append)
    running = asyncio.create_task(pump.run(wire.lines()))
    try:
        yield wire, running
    finally:
        wire.end()
        async with asyncio.timeout(10):
            await asyncio.gather(running, return_exceptions=True)
        await child.close()
    assert not faults


def call(id_raw: str, name: str, **arguments: str | int) -> bytes:
    params = json.dumps({"name": name, "arguments": arguments})
    return f'{{"jsonrpc":"2.0","method":"tools/call" ,"id":{id_raw},"params":{params}}}\n'.encode()


async def test_lines_pass_as_they_are_and_ends_are_told() -> None:
    gate = FakeGate()
    async with pumped(gate) as (wire, running):
        wire.say(call('"a"', "echo", text="x"))
        assert await wire.hear() == (
            b'{"result": {"isError": false, "content":[ {"type":"text","text":"x"} ]},  "jsonrpc":"2.0", "id":"a"}\n'
        )
        wire.say(call("2", "notify"))
        assert b"list_changed" in await wire.hear()
        assert b'"told"' in await wire.hear()
        wire.end()
        assert await asyncio.wait_for(running, 10) == 0
    assert [asked.invocation.tool for asked in gate.asked] == ["s/echo", "s/notify"]
    assert [result is not None for result in gate.over.values()] == [True, True]


async def test_a_ready_result_is_one_line_with_the_live_id() -> None:
    gate = FakeGate({Invocation("s/count", {}).key: ToolResult(body=b'{"content":\r\n[ ]}')})
    async with pumped(gate) as (wire, _):
        wire.say(call('"\\u0061"', "count"))
        assert await wire.hear() == b'{"jsonrpc":"2.0","id":"\\u0061","result":{"content":  [ ]}}\n'
        wire.say(call("2", "count"))
        assert b'"text":"1"' in await wire.hear()


async def test_messages_keep_their_order() -> None:
    async with pumped(FakeGate()) as (wire, _):
        for number in range(50):
            wire.say(call(str(number), "echo", text=str(number)))
        assert [json.loads(await wire.hear())["id"] for _ in range(50)] == list(range(50))


async def test_a_call_that_waits_for_a_job_holds_up_nothing_else() -> None:
    class Waiting(FakeGate):
        def __init__(self) -> None:
            super().__init__()
            self.ready_now = asyncio.Event()

        async def ask(self, call: AgentCall) -> Decision:
            if call.invocation.tool == "s/count":
                await self.ready_now.wait()
            return await super().ask(call)

    gate = Waiting()
    async with pumped(gate) as (wire, _):
        wire.say(call("1", "count"))
        wire.say(call("2", "echo", text="x"))
        assert json.loads(await wire.hear())["id"] == 2
        gate.ready_now.set()
        assert json.loads(await wire.hear())["id"] == 1


async def test_the_server_s_end_is_the_pump_s_and_open_calls_are_told() -> None:
    gate = FakeGate()
    async with pumped(gate) as (wire, running):
        wire.say(call("1", "hang"))
        wire.say(call("2", "die", code=6))
        assert await asyncio.wait_for(running, 10) == 6
    assert gate.over == {1: None, 2: None}


async def test_a_line_that_is_no_message_passes_and_counts_as_an_unknown_tool() -> None:
    gate = FakeGate()
    async with pumped(gate) as (wire, running):
        wire.say(b"{not json}\n")
        assert await asyncio.wait_for(running, 10) == 1
    assert [asked.invocation.tool for asked in gate.asked] == ["s/(unread)"]
