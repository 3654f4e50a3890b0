"""One-call dispatch over HTTP: what a client sees, run or reused."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from yarl import URL

from paste_proxy.config import Config, DispatchTool
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status, ToolResult
from paste_proxy.proxy.dispatch.route import add_dispatch_routes
from paste_proxy.testing import FakeGate

SOON = 5.0


@dataclass
class Live:
    """A sidecar with one HTTP tool behind it, and a client."""

    gate: FakeGate
    url: str
    client: aiohttp.ClientSession
    gone: asyncio.Event
    entered: asyncio.Event

    def post(self, tool: str, body: bytes, **headers: str) -> aiohttp.client._RequestContextManager:
        return self.client.post(f"{self.url}/paste/v1/sessions/s1/tools/{tool}", data=body, headers=headers)


@asynccontextmanager
async def listening(app: web.Application, *, told_of_disconnects: bool) -> AsyncIterator[str]:
    runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=told_of_disconnects)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


@pytest.fixture
async def live(tmp_path: Path) -> AsyncIterator[Live]:
    entered, gone = asyncio.Event(), asyncio.Event()

    async def order(request: web.Request) -> web.Response:
        arguments = await request.json()
        if arguments.get("hang"):
            entered.set()
            try:
                await asyncio.Event().wait()
            finally:
                gone.set()
        if "status" in arguments:
            return web.Response(text="no such order", status=arguments["status"])
        return web.Response(body=b'{ "order": 7 }\n', content_type="application/vnd.order+json")

    upstream = web.Application()
    upstream.router.add_post("/order", order)
    gate = FakeGate()
    async with listening(upstream, told_of_disconnects=True) as tools_url, aiohttp.ClientSession() as client:
        config = Config(
            tools={
                "order": DispatchTool(url=f"{tools_url}/order"),
                "away": DispatchTool(url="http://127.0.0.1:1/"),
                "fail": DispatchTool(command=(sys.executable, "-c", "raise SystemExit('broken')")),
            }
        )
        app = web.Application()
        add_dispatch_routes(app, config, gate)
        async with listening(app, told_of_disconnects=False) as url:
            yield Live(gate, url, client, gone, entered)


async def seen(response: aiohttp.ClientResponse) -> tuple[int, bytes, str, str | None]:
    headers = response.headers
    return response.status, await response.read(), headers["content-type"], headers.get("x-paste-outcome")


async def test_the_configured_tools_are_offered_at_start(live: Live) -> None:
    assert live.gate.offers["", ""][1] == ("order", "away", "fail")


async def test_a_call_that_is_run_gets_the_tools_own_bytes_and_is_reported(live: Live) -> None:
    async with live.post("order", b'{"id": 7}', **{"x-paste-call-id": "call_1"}) as response:
        assert await seen(response) == (200, b'{ "order": 7 }\n', "application/vnd.order+json", "run")
    (call,) = live.gate.asked
    assert (call.session, call.call_id, call.scope) == ("s1", "call_1", "")
    assert call.invocation == Invocation("order", {"id": 7})
    (result,) = live.gate.over.values()
    assert result is not None
    assert result.body == b'{ "order": 7 }\n'


async def test_a_header_wants_nothing_run_ahead_for_the_session(live: Live) -> None:
    for value in ("off", "on"):
        async with live.post("order", b"{}", **{"x-paste-speculate": value}) as response:
            await response.read()
    async with live.post("order", b"{}") as response:
        await response.read()
    assert [call.ahead for call in live.gate.asked] == [False, True, True]


async def test_a_reused_answer_differs_from_a_live_one_in_one_header_only(live: Live) -> None:
    async with live.post("order", b'{"id": 7}') as response:
        run = await seen(response)
        run_headers = dict(response.headers)
    (ran,) = live.gate.over.values()
    assert ran is not None
    live.gate.ready[Invocation("order", {"id": 7}).key] = ran
    async with live.post("order", b'{"id":7}') as response:
        reused = await seen(response)
        reused_headers = dict(response.headers)
    assert run[:3] == reused[:3]
    assert reused[3] == "reused"
    assert {k: v for k, v in run_headers.items() if run_headers[k] != reused_headers[k]}.keys() <= {
        "x-paste-outcome",
        "Date",
    }
    assert run_headers.keys() == reused_headers.keys()
    assert len(live.gate.over) == 1, "a served call has no end of its own"


@pytest.mark.parametrize("status", [404, 429, 503])
async def test_a_tools_own_http_error_is_passed_on(live: Live, status: int) -> None:
    async with live.post("order", f'{{"status": {status}}}'.encode()) as response:
        assert (await seen(response))[:2] == (status, b"no such order")
    (result,) = live.gate.over.values()
    assert result is not None
    assert result.status is Status.ERROR


async def test_a_program_that_fails_is_an_error_with_its_own_words(live: Live) -> None:
    async with live.post("fail", b"{}") as response:
        assert (await seen(response))[:2] == (500, b"broken\n")


async def test_an_unreachable_tool_is_a_bad_gateway_and_its_end_unknown(live: Live) -> None:
    async with live.post("away", b"") as response:
        assert response.status == 502
        assert response.headers["x-paste-error"] == "tool_unreachable"
        assert "http://127.0.0.1:1/" in (await response.json())["error"]["message"]
    assert list(live.gate.over.values()) == [None]


async def test_an_unknown_tool_is_named_with_those_there_are(live: Live) -> None:
    async with live.post("oder", b"{}") as response:
        assert response.status == 404
        assert response.headers["x-paste-error"] == "no_tool"
        error = (await response.json())["error"]["message"]
    assert "'oder'" in error
    assert "away, fail, order" in error
    assert not live.gate.asked


@pytest.mark.parametrize("spelling", ["lab/lookup", "lab%2Flookup"])
async def test_a_tool_of_an_mcp_server_is_told_where_it_is_called(live: Live, spelling: str) -> None:
    address = f"{live.url}/paste/v1/sessions/s1/tools/{spelling}"
    async with live.client.post(URL(address, encoded=True), data=b"{}") as response:
        assert (response.status, response.headers["x-paste-error"]) == (404, "no_tool")
        error = (await response.json())["error"]["message"]
    assert "'lab/lookup'" in error
    assert "/mcp/lab" in error
    assert "[tools] (away, fail, order)" in error
    assert not live.gate.asked


@pytest.mark.parametrize(
    ("body", "found"), [(b"[1]", "[1]"), (b'{"a":', '{"a":'), (b"\xff", "\ufffd"), (b'"x"' * 100, "...")]
)
async def test_a_body_that_is_no_object_is_refused_with_what_was_found(live: Live, body: bytes, found: str) -> None:
    async with live.post("order", body) as response:
        assert response.status == 400
        assert found in (await response.json())["error"]["message"]
    assert not live.gate.asked


@pytest.mark.parametrize("body", [b"", b"  ", b"null", b"{}"])
async def test_no_arguments_have_four_spellings(live: Live, body: bytes) -> None:
    async with live.post("order", body) as response:
        assert response.status == 200
    assert live.gate.asked[0].invocation.arguments == {}


async def test_a_client_that_disconnects_stops_the_tool_and_leaves_its_effect_unknown(live: Live) -> None:
    call = asyncio.create_task(live.post("order", b'{"hang": true}').__aenter__())
    async with asyncio.timeout(SOON):
        await live.entered.wait()
        call.cancel()
        await live.gone.wait()
    assert list(live.gate.over.values()) == [None]


@pytest.mark.parametrize("path", ["/paste/v1/sessions/s1/tools/order", "/paste/v1/dispatch"])
async def test_a_web_page_cannot_run_tools(live: Live, path: str) -> None:
    method = "GET" if path.endswith("dispatch") else "POST"
    headers = {"origin": "http://evil.example"}
    async with live.client.request(method, live.url + path, headers=headers) as response:
        assert response.status == 403
    assert not live.gate.asked


async def test_a_served_result_is_the_bytes_of_the_job(live: Live) -> None:
    job = ToolResult(body=b"\x00\x01", content_type="image/png", status=Status.OK)
    live.gate.ready[Invocation("order", {}).key] = job
    async with live.post("order", b"{}") as response:
        assert await seen(response) == (200, b"\x00\x01", "image/png", "reused")
