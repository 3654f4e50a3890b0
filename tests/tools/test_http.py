"""Tools behind URLs."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import web

from paste_proxy.errors import UpstreamFault
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status
from paste_proxy.tools.http import HttpBackend

SOON = 5.0


class Upstream:
    """A tool that echoes, fails, hangs or breaks off, as its arguments say."""

    def __init__(self) -> None:
        self.entered, self.gone = asyncio.Event(), asyncio.Event()

    async def tool(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        match json.loads(body):
            case {"hang": _}:
                self.entered.set()
                try:
                    await asyncio.Event().wait()
                finally:
                    self.gone.set()
            case {"break": _}:
                response = web.StreamResponse(headers={"content-length": "100"})
                await response.prepare(request)
                await response.write(b"part")
                assert request.transport is not None
                request.transport.abort()
                return response
            case {"loop": _}:
                raise web.HTTPTemporaryRedirect(str(request.rel_url))
            case {"astray": _}:
                raise web.HTTPTemporaryRedirect(f"ftp://elsewhere/{request.rel_url}")
            case {"status": int(status)}:
                headers = {"Retry-After": "7"} if status == 429 else {}
                return web.Response(body=b"no", status=status, content_type="text/plain", headers=headers)
        return web.Response(body=body, headers={"content-type": request.headers["content-type"] + "; v=1"})


@asynccontextmanager
async def listening(upstream: Upstream) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_post("/tool", upstream.tool)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}/tool"
    await runner.cleanup()


@pytest.fixture
def upstream() -> Upstream:
    return Upstream()


@pytest.fixture
async def backend(upstream: Upstream) -> AsyncIterator[HttpBackend]:
    async with listening(upstream) as url, aiohttp.ClientSession() as session:
        yield HttpBackend(session, url, timeout_s=SOON, speculative_bytes=1000)


@pytest.mark.parametrize("speculative", [True, False])
async def test_arguments_are_posted_as_json_and_the_answer_comes_as_it_is(
    backend: HttpBackend, speculative: bool
) -> None:
    result = await backend.run(Invocation("echo", {"n": 2**70, "text": "é\ud800"}), speculative=speculative)
    assert json.loads(result.body) == {"n": 2**70, "text": "é\ud800"}
    assert (result.status, result.http_status) == (Status.OK, 200)
    assert result.content_type == "application/json; v=1"


async def test_a_status_of_400_or_more_is_the_tools_own_error(backend: HttpBackend) -> None:
    result = await backend.run(Invocation("echo", {"status": 418}), speculative=False)
    assert (result.status, result.http_status, result.body) == (Status.ERROR, 418, b"no")
    assert result.retry_after_s is None
    busy = await backend.run(Invocation("echo", {"status": 429}), speculative=True)
    assert (busy.http_status, busy.retry_after_s) == (429, 7.0)


async def test_an_answer_that_breaks_off_is_a_fault(backend: HttpBackend) -> None:
    with pytest.raises(UpstreamFault, match="cannot be reached or broke off"):
        await backend.run(Invocation("echo", {"break": 1}), speculative=False)


async def test_a_speculative_answer_is_bounded_an_authoritative_one_is_not(backend: HttpBackend) -> None:
    long = Invocation("echo", {"text": "x" * 2000})
    with pytest.raises(UpstreamFault, match="larger than 1000 bytes"):
        await backend.run(long, speculative=True)
    assert len((await backend.run(long, speculative=False)).body) > 2000


async def test_a_late_answer_is_a_fault_that_names_the_setting(upstream: Upstream) -> None:
    async with listening(upstream) as url, aiohttp.ClientSession() as session:
        backend = HttpBackend(session, url, timeout_s=0.1)
        with pytest.raises(UpstreamFault, match="timeout_s"):
            await backend.run(Invocation("echo", {"hang": 1}), speculative=False)


async def test_cancelling_closes_the_connection(backend: HttpBackend, upstream: Upstream) -> None:
    task = asyncio.create_task(backend.run(Invocation("echo", {"hang": 1}), speculative=True))
    async with asyncio.timeout(SOON):
        await upstream.entered.wait()
        task.cancel()
        await upstream.gone.wait()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_loopback_never_goes_through_the_environments_proxy(
    upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    async with listening(upstream) as url, aiohttp.ClientSession() as session:
        direct = HttpBackend(session, url, timeout_s=SOON)
        assert (await direct.run(Invocation("echo", {}), speculative=False)).body == b"{}"
        away = HttpBackend(session, "http://tools.example/", timeout_s=SOON)
        with pytest.raises(UpstreamFault, match=r"127\.0\.0\.1:1"):
            await away.run(Invocation("echo", {}), speculative=False)


@pytest.mark.parametrize("arguments", [{"break": 1}, {"loop": 1}, {"astray": 1}])
async def test_a_fault_names_the_address_without_what_may_be_secret(
    upstream: Upstream, arguments: dict[str, int]
) -> None:
    async with listening(upstream) as url, aiohttp.ClientSession() as session:
        secret = url.replace("http://", "http://me:PASSWORD@") + "?key=SECRETKEY"
        backend = HttpBackend(session, secret, timeout_s=SOON)
        with pytest.raises(UpstreamFault) as fault:
            await backend.run(Invocation("echo", dict(arguments)), speculative=False)
    assert url in str(fault.value)
    assert "SECRETKEY" not in str(fault.value)
    assert "PASSWORD" not in str(fault.value)
