"""Engines are asked for their load, whatever they answer."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from paste_proxy.clock import SystemClock
from paste_proxy.config import Config
from paste_proxy.proxy.hub.observed import EngineHeard, Exchange, RequestUnread
from paste_proxy.proxy.hub.pacing_desk import PacingDesk
from paste_proxy.proxy.pacing import minding
from paste_proxy.proxy.pacing.gates import gates_of
from paste_proxy.proxy.ports import Waiting
from paste_proxy.proxy.server import app_runner
from tests.proxy.mcp.parts import until

PAGE = "vllm:num_requests_running 3\nvllm:num_requests_waiting 1\n"
ODD = 'vllm:num_requests_running 0\nvllm:num_requests_waiting 1_x{a="b"} 0.4\n'


@asynccontextmanager
async def engine(pages: list[str | int]) -> AsyncIterator[str]:
    """Answers with each in turn, and with the last one for ever."""

    async def metrics(_: web.Request) -> web.Response:
        page = pages.pop(0) if len(pages) > 1 else pages[0]
        return web.Response(status=page) if isinstance(page, int) else web.Response(text=page)

    app = web.Application()
    app.router.add_get("/metrics", metrics)
    runner = app_runner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    await runner.cleanup()


@pytest.mark.parametrize("broken", [ODD, "<html>", "", 500])
async def test_a_page_that_cannot_be_read_is_not_the_last(broken: str | int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minding, "_EVERY_S", 0.005)
    async with engine([PAGE, broken, PAGE]) as url:
        config = Config.model_validate(
            {"llm": ({"path": "/v1", "upstream": url, "engine": "e"},), "engines": {"e": {"kind": "vllm"}}}
        )
        desk, told = PacingDesk(gates_of(config), SystemClock()), list[EngineHeard]()
        waiting = Waiting("e", 100, asyncio.get_running_loop().create_future())
        desk.handle(RequestUnread(Exchange(waiting=waiting)))
        async with minding.minding(config, told.append, desk):
            await until(lambda: len(told) >= 3)
        loads = [heard.load.running if heard.load is not None else None for heard in told[:3]]
        assert loads == [3, None, 3]
        assert desk.tally("e").unasked == 1
