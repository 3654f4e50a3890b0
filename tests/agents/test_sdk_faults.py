"""Whatever is wrong with the sidecar, the tools run."""

import asyncio
import socket
import threading
from collections.abc import Iterator

import pytest
from aiohttp import web

from paste_proxy import Sidecar
from paste_proxy.agents import protocol
from tests.agents.scripted import SOON, ScriptedGate, served


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


async def test_without_a_sidecar_tools_run_and_the_calls_are_counted() -> None:
    def agent() -> tuple[list[int], int, int]:
        with Sidecar(f"http://127.0.0.1:{free_port()}", patience_s=SOON) as paste:

            @paste.tool
            def double(n: int) -> int:
                return 2 * n

            return [double(n) for n in range(3)], paste.stats.absent, paste.stats.run

    assert await asyncio.to_thread(agent) == ([0, 2, 4], 3, 3)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/x", "nonsense", "http://[::bad"])
async def test_a_url_that_cannot_be_used_only_counts(url: str) -> None:
    def agent() -> tuple[int, int]:
        with Sidecar(url, patience_s=SOON) as paste:
            return paste.tool(lambda: 1)(), paste.stats.absent

    assert await asyncio.to_thread(agent) == (1, 1)


async def test_a_slow_sidecar_is_not_waited_for_and_its_late_word_changes_nothing() -> None:
    async with served() as sidecar:
        sidecar.gate.deaf = True

        def agent() -> tuple[int, int]:
            with Sidecar(sidecar.url, patience_s=0.01) as paste:
                return paste.tool(lambda: 1)(), paste.stats.slow

        assert await asyncio.to_thread(agent) == (1, 1)


async def test_a_sidecar_killed_while_a_promoted_call_waits_lets_the_agent_run_it() -> None:
    entered, leave = threading.Event(), threading.Event()
    runs: list[int] = []

    def agent(url: str) -> tuple[str, int, int]:
        with Sidecar(url, session="task", patience_s=SOON) as paste:

            @paste.tool
            def fetch() -> str:
                runs.append(threading.get_ident())
                if len(runs) == 1:
                    entered.set()
                    assert leave.wait(SOON)
                return "value"

            assert entered.wait(SOON)
            return fetch(), paste.stats.lost, threading.get_ident()

    async with served() as sidecar:
        running = asyncio.create_task(asyncio.to_thread(agent, sidecar.url))
        await sidecar.gate.launch("task", "fetch", {})
        await sidecar.gate.until(lambda: bool(sidecar.gate.asked))
        await sidecar.kill()
        value, lost, own = await running
        leave.set()
    assert (value, lost) == ("value", 1)
    assert runs[1] == own


async def test_a_call_that_runs_while_the_sidecar_comes_back_is_told_to_it_before_any_tool_is_offered() -> None:
    port = free_port()
    entered, leave = threading.Event(), threading.Event()

    def agent() -> str:
        with Sidecar(f"http://127.0.0.1:{port}", session="task", patience_s=SOON) as paste:

            @paste.tool
            def write() -> str:
                entered.set()
                assert leave.wait(SOON)
                return "written"

            return write()

    class Order(ScriptedGate):
        """Notes what had been asked when the first offer came."""

        asked_before_offer: int | None = None

        def offer(self, scope: str, server: str, backend: object, tools: object, **session: object) -> None:
            if self.asked_before_offer is None:
                self.asked_before_offer = len(self.asked)
            super().offer(scope, server, backend, tools, **session)  # type: ignore[arg-type]

    running = asyncio.create_task(asyncio.to_thread(agent))
    assert await asyncio.to_thread(entered.wait, SOON)
    gate = Order()
    async with served(port, gate):
        await gate.scope_offering("task", "write")
        assert gate.asked_before_offer == 1
        leave.set()
        assert await running == "written"
        await gate.until(lambda: bool(gate.over))
    (result,) = gate.over.values()
    assert result is not None
    assert result.value() == "written"


async def test_an_agent_that_disappears_is_withdrawn_and_its_open_calls_end_unknown() -> None:
    async with served() as sidecar:
        entered, leave = threading.Event(), threading.Event()
        paste = Sidecar(sidecar.url, session="task", patience_s=SOON)

        @paste.tool
        def write() -> str:
            entered.set()
            assert leave.wait(SOON)
            return "written"

        running = asyncio.create_task(asyncio.to_thread(write))
        assert await asyncio.to_thread(entered.wait, SOON)
        await asyncio.to_thread(paste.close)
        await sidecar.gate.until(lambda: bool(sidecar.gate.over))
        assert list(sidecar.gate.over.values()) == [None]
        assert [scope.partition("/")[2] for scope in sidecar.gate.withdrawn] == ["task"]
        leave.set()
        assert await running == "written"
        assert await asyncio.to_thread(write) == "written"


async def test_a_sidecar_of_another_version_is_left_alone() -> None:
    hellos = 0

    async def other(request: web.Request) -> web.WebSocketResponse:
        nonlocal hellos
        hellos += 1
        ws = web.WebSocketResponse()
        await ws.prepare(request)
        await ws.receive_str()
        await ws.send_str(protocol.encode(protocol.Refusal(reason="version 9 only")))
        await ws.close()
        return ws

    app = web.Application()
    app.router.add_get(protocol.PATH, other)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()

    def agent() -> tuple[list[int], int]:
        with Sidecar(f"http://127.0.0.1:{runner.addresses[0][1]}", patience_s=SOON) as paste:
            tool = paste.tool(lambda: 1)
            return [tool(), tool()], paste.stats.absent

    assert await asyncio.to_thread(agent) == ([1, 1], 2)
    assert hellos == 1
    await runner.cleanup()


async def test_a_sidecar_that_talks_nonsense_is_left_and_the_tools_run() -> None:
    async def other(request: web.Request) -> web.WebSocketResponse:
        ws = web.WebSocketResponse()
        await ws.prepare(request)
        await ws.receive_str()
        await ws.send_str(protocol.encode(protocol.Welcome(version=protocol.VERSION)))
        await ws.receive_str()
        await ws.send_str('{"type": "use", "call": "x"}')
        await ws.receive()
        return ws

    app = web.Application()
    app.router.add_get(protocol.PATH, other)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()

    def agent() -> int:
        with Sidecar(f"http://127.0.0.1:{runner.addresses[0][1]}", patience_s=SOON) as paste:
            return paste.tool(lambda: 1)()

    assert await asyncio.to_thread(agent) == 1
    await runner.cleanup()


async def test_a_call_told_to_use_a_job_that_then_gives_no_value_is_run_and_announced() -> None:
    announced: asyncio.Future[protocol.FromAgent] = asyncio.get_running_loop().create_future()
    leave = threading.Event()
    runs: list[int] = []

    async def hasty(request: web.Request) -> web.WebSocketResponse:
        ws = web.WebSocketResponse()
        await ws.prepare(request)
        await ws.receive_str()
        await ws.send_str(protocol.encode(protocol.Welcome(version=protocol.VERSION)))
        while not isinstance(message := protocol.read_from_agent(await ws.receive_str()), protocol.Call):
            if isinstance(message, protocol.Offer) and message.tools:
                run = protocol.Run(job=1, session="", tool="fetch", arguments={})
                await ws.send_str(protocol.encode(run))
        await ws.send_str(protocol.encode(protocol.Use(call=message.call, job=1, outcome="promoted")))
        await ws.send_str(protocol.encode(protocol.Run(job=2, session="", tool="unknown", arguments={})))
        assert await ws.receive_str() == protocol.encode(protocol.Ended(job=2, status=None))
        leave.set()  # the agent has taken the job
        while not isinstance(message := protocol.read_from_agent(await ws.receive_str()), protocol.Call):
            pass
        announced.set_result(message)
        await ws.receive()
        return ws

    app = web.Application()
    app.router.add_get(protocol.PATH, hasty)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()

    def agent() -> tuple[object, int]:
        with Sidecar(f"http://127.0.0.1:{runner.addresses[0][1]}", patience_s=SOON) as paste:
            entered = threading.Event()

            @paste.tool
            def fetch() -> object:
                runs.append(1)
                if len(runs) == 1:
                    entered.set()
                    assert leave.wait(SOON)
                    return iter_later()
                return "own"

            assert entered.wait(SOON)
            return fetch(), paste.stats.missing

    assert await asyncio.to_thread(agent) == ("own", 1)
    message = await asyncio.wait_for(announced, SOON)
    assert isinstance(message, protocol.Call)
    assert message.arguments is None
    await runner.cleanup()


def iter_later() -> Iterator[int]:
    yield 1
