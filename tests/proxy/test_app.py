"""Large bodies, bounded memory, an unblocked loop, and how the application drains."""

import asyncio
import tracemalloc
from collections.abc import Callable

from aiohttp import web

from paste_proxy.proxy.app import TRAFFIC
from paste_proxy.proxy.http.traffic import Traffic
from tests.proxy.llm_world import (
    PATIENCE_S,
    STREAM_HEAD,
    Seen,
    answer,
    chunked,
    connect,
    exchange,
    post,
    replying,
    sidecar,
    until,
    upstream,
)

MEGABYTE = 2**20


async def test_b35_a_100_mb_error_body_passes_with_bounded_memory() -> None:
    total = 100 * MEGABYTE

    async def huge(_: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: %d\r\n\r\n" % total)
        piece = bytes(MEGABYTE)
        for _number in range(100):
            writer.write(piece)
            await writer.drain()

    async with upstream(huge) as there, sidecar(("/v1", there.url)) as port:
        reader, writer = await connect(port)
        writer.write(post("/v1/x", b"{}"))
        await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE_S)
        tracemalloc.start()
        got = 0
        while chunk := await asyncio.wait_for(reader.read(MEGABYTE), PATIENCE_S):
            got += len(chunk)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        writer.close()
    assert got == total
    assert peak < 40 * MEGABYTE  # client, upstream and sidecar share this process


async def test_b35_a_hundred_large_bodies_at_once_all_arrive() -> None:
    body = bytes(MEGABYTE)
    async with upstream(replying(answer(b"ok"))) as there, sidecar(("/v1", there.url)) as port:
        answers = await asyncio.gather(*(exchange(port, post("/v1/x", body)) for _ in range(40)))
        assert all(raw.endswith(b"ok") for raw in answers)
        assert [len(seen.body) for seen in there.seen] == [MEGABYTE] * 40


async def test_an_early_refusal_of_a_large_upload_reaches_the_client() -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer(b"too large", b"Connection: close", status=b"413 Content Too Large"))
        await reader.read()
        writer.close()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    there = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with sidecar(("/v1", there)) as port:
        reader, writer = await connect(port)
        writer.write(post("/v1/x", bytes(4 * MEGABYTE)))
        raw = await asyncio.wait_for(reader.readuntil(b"too large"), PATIENCE_S)
        assert raw.startswith(b"HTTP/1.1 413 ")
        writer.close()
    server.close()


class TestDraining:
    async def test_b65_new_work_is_refused_and_exchanges_run_on(self) -> None:
        go = asyncio.Event()

        async def held(_: Seen, writer: asyncio.StreamWriter) -> None:
            writer.write(STREAM_HEAD + chunked(b"data: 1\n\n", end=b""))
            await go.wait()
            writer.write(chunked(b"data: 2\n\n"))

        traffic = asyncio.Future[Traffic]()
        async with upstream(held) as there, sidecar(("/v1", there.url), more=(_revealing(traffic),)) as port:
            live = asyncio.ensure_future(exchange(port, post("/v1/x", b"{}")))
            await until(there.asked)
            (await traffic).drain()
            refused = await exchange(port, post("/v1/x", b"{}"))
            assert refused.startswith(b"HTTP/1.1 503 ")
            assert b"x-paste-error: stopping" in refused
            ready = await exchange(port, b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert ready.startswith(b"HTTP/1.1 503 ")
            quiet = asyncio.ensure_future((await traffic).quiet())
            go.set()
            assert (await live).endswith(b"data: 2\n\n\r\n0\r\n\r\n")
            await asyncio.wait_for(quiet, PATIENCE_S)

    async def test_b65_subscriptions_are_closed_at_once(self) -> None:
        listening = asyncio.Event()

        async def events(request: web.Request) -> web.StreamResponse:
            response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
            await response.prepare(request)
            listening.set()
            await asyncio.Event().wait()
            return response

        traffic = asyncio.Future[Traffic]()

        def add(app: web.Application) -> None:
            _revealing(traffic)(app)
            app.router.add_get("/paste/v1/events", events)

        async with sidecar(more=(add,)) as port:
            head = b"GET /paste/v1/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n"
            open_stream = asyncio.ensure_future(exchange(port, head))
            await until(listening)
            assert (await traffic).live == 0
            (await traffic).drain()
            assert b"text/event-stream" in await asyncio.wait_for(open_stream, PATIENCE_S)


def _revealing(found: "asyncio.Future[Traffic]") -> Callable[[web.Application], None]:
    return lambda app: found.set_result(app[TRAFFIC])
