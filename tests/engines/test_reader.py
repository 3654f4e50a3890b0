"""An engine that is asked for its load."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import BytesIO

import aiohttp
import pytest
from aiohttp import web

from paste_proxy.engines import reader as reader_module
from paste_proxy.engines.kinds import EngineKind
from paste_proxy.engines.reader import LoadReader, metrics_address
from paste_proxy.errors import UpstreamFault
from paste_proxy.turns.types import EngineLoad

from .test_loads import LLAMA_CPP, VLLM


@asynccontextmanager
async def asked(kind: EngineKind, **pages: str | bytes | int | None) -> AsyncIterator[LoadReader]:
    """An engine with pages by their names: what they hold, or a status, or None: they never answer."""

    async def page(request: web.Request) -> web.Response:
        told = pages.get(request.path.strip("/"), 404)
        if told is None:
            await asyncio.Event().wait()
        assert told is not None
        if isinstance(told, int):
            return web.Response(status=told, headers={"Location": "/elsewhere"})
        return web.Response(body=BytesIO(told if isinstance(told, bytes) else told.encode()))

    app = web.Application()
    app.router.add_get("/{page}", page)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    upstream = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        async with aiohttp.ClientSession() as session:
            metrics = metrics_address(kind, upstream)
            assert metrics is not None
            yield LoadReader(kind, metrics, session=session)
    finally:
        await runner.cleanup()


@pytest.mark.parametrize(
    ("kind", "address"),
    [
        (EngineKind.VLLM, "http://gpu:8000/metrics"),
        (EngineKind.WORKER, "http://gpu:8000/metrics"),
        (EngineKind.OTHER, None),
    ],
)
def test_where_the_metrics_are(kind: EngineKind, address: str | None) -> None:
    assert metrics_address(kind, "http://gpu:8000/v1") == address


async def test_an_engine_tells_its_load() -> None:
    async with asked(EngineKind.VLLM, metrics=VLLM) as reader:
        assert await reader.read() == EngineLoad(running=3, waiting=4, kv_used=0.25)
        assert (await reader.read()).cache_hits is None


async def test_llama_cpp_tells_of_its_cache_elsewhere() -> None:
    slots = '[{"n_ctx": 100, "is_processing": true, "n_past": 40}, {"n_ctx": 100, "is_processing": false}]'
    async with asked(EngineKind.LLAMA_CPP, metrics=LLAMA_CPP, slots=slots) as reader:
        assert await reader.read() == EngineLoad(running=2, waiting=1, kv_used=0.2)


async def test_or_not() -> None:
    async with asked(EngineKind.LLAMA_CPP, metrics=LLAMA_CPP, slots=501) as reader:
        assert await reader.read() == EngineLoad(running=2, waiting=1)


async def test_slots_that_do_not_answer_hold_nothing_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_module, "_LONGEST_S", 0.2)
    async with asked(EngineKind.LLAMA_CPP, metrics=LLAMA_CPP, slots=None) as reader:
        assert await reader.read() == EngineLoad(running=2, waiting=1)


@pytest.mark.parametrize(
    ("page", "words"),
    [
        (500, "status 500"),
        (302, "status 302"),
        ("<html>", "/metrics: there is '<html>' and the like; expected a metrics page of vllm"),
        (gzip.compress(VLLM.encode()), "no text"),
        (b"#" * (4 * 2**20 + 1), "longer than 4194304 bytes"),
        (None, "did not answer within 0.2 s"),
    ],
)
async def test_what_it_cannot_be_read_from(
    page: str | bytes | int | None, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if page is None:
        monkeypatch.setattr(reader_module, "_LONGEST_S", 0.2)
    async with asked(EngineKind.VLLM, metrics=page, elsewhere=VLLM) as reader:
        with pytest.raises(UpstreamFault) as fault:
            await reader.read()
        assert words in str(fault.value)


async def test_an_engine_that_is_not_there() -> None:
    async with aiohttp.ClientSession() as session:
        reader = LoadReader(EngineKind.VLLM, "http://user:secret@127.0.0.1:1/metrics?key=secret", session=session)
        with pytest.raises(UpstreamFault) as fault:
            await reader.read()
        assert "cannot be reached" in str(fault.value)
        assert "secret" not in str(fault.value)


async def test_metrics_of_no_known_kind() -> None:
    async with aiohttp.ClientSession() as session:
        with pytest.raises(UpstreamFault, match="name the engine's kind"):
            await LoadReader(EngineKind.OTHER, "http://127.0.0.1:1/metrics", session=session).read()
