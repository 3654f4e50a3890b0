"""A connection that leaves HTTP carries bytes, whatever they are, to either side's end."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager, suppress
from typing import TypeVar

import aiohttp
import pytest
from aiohttp import web

from tests.proxy.llm_world import PATIENCE_S, Seen, answer, connect, exchange, replying, sidecar, until, upstream

ASK = (
    b"GET /v1/realtime?model=m HTTP/1.1\r\nHost: s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Protocol: realtime, openai-insecure-api-key.k\r\n"
    b"Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\nAuthorization: Bearer k\r\n\r\n"
)
SWITCH = (
    b"HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
    b"Sec-WebSocket-Extensions: permessage-deflate\r\nSec-WebSocket-Protocol: realtime\r\n"
    b"Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
)


class Peer:
    """The upstream's side once it has switched, to be driven by the test."""

    def __init__(self, first: bytes = b"") -> None:
        self._first = first
        self.streams: asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Future()
        self.head = b""

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.head = await reader.readuntil(b"\r\n\r\n")
        writer.write(SWITCH + self._first)
        self.streams.set_result((reader, writer))


Pair = tuple[asyncio.StreamReader, asyncio.StreamWriter]
T = TypeVar("T")


async def soon(work: Awaitable[T]) -> T:
    return await asyncio.wait_for(work, PATIENCE_S)


@asynccontextmanager
async def tunnelled(peer: Peer) -> AsyncIterator[tuple[Pair, Pair]]:
    """Both ends of a tunnel, the client's first, its answer's head still to be read."""
    server = await asyncio.start_server(peer.talk, "127.0.0.1", 0)
    there = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    async with server, sidecar(("/v1", there)) as port:
        client = await connect(port)
        client[1].write(ASK)
        far = await soon(peer.streams)
        try:
            yield client, far
        finally:
            for _, writer in (client, far):
                writer.close()
            for _, writer in (client, far):
                with suppress(OSError):
                    await soon(writer.wait_closed())


async def test_the_handshake_and_any_bytes_after_it_pass_untouched_both_ways() -> None:
    peer = Peer(first=b"\x81\x02hi")
    async with tunnelled(peer) as ((reader, writer), (there, back)):
        head = await soon(reader.readuntil(b"\r\n\r\n"))
        assert sorted(head.split(b"\r\n")) == sorted(SWITCH.split(b"\r\n"))
        assert await soon(reader.readexactly(4)) == b"\x81\x02hi", "what came with the head"
        lines = peer.head.split(b"\r\n")
        assert lines[0] == b"GET /v1/realtime?model=m HTTP/1.1"
        assert set(ASK.split(b"\r\n")[2:]) <= set(lines)
        for raw in (bytes(range(256)), b"\x01\x80frag", b"\x80\x00", b"\x89\x04ping", b"GET / HTTP/1.1\r\n\r\n"):
            writer.write(raw)
            assert await soon(there.readexactly(len(raw))) == raw
            back.write(raw[::-1])
            assert await soon(reader.readexactly(len(raw))) == raw[::-1]
        back.close()
        assert await soon(reader.read()) == b""


async def test_a_flood_waits_for_who_does_not_read_and_arrives_whole() -> None:
    peer, size = Peer(), 24 * 2**20
    async with tunnelled(peer) as ((reader, writer), (there, back)):
        await soon(reader.readuntil(b"\r\n\r\n"))
        writer.write(b"a" * size)
        back.write(b"b" * size)
        up, down = await asyncio.gather(soon(there.readexactly(size)), soon(reader.readexactly(size)))
        assert (up.count(b"a"), down.count(b"b")) == (size, size)
        writer.close()
        assert await soon(there.read()) == b""


@pytest.mark.parametrize("side", ["client", "upstream"])
@pytest.mark.parametrize("close", [b"", b"\x88\x02\x03\xe8", b"\x88\x02\x03\xee", b"\x88\x06\x0f\xa1oops"])
async def test_the_last_words_arrive_and_a_missing_goodbye_is_missed(side: str, close: bytes) -> None:
    """An end without a close frame is what a client reports as code 1006; nobody makes up a frame."""
    peer = Peer()
    async with tunnelled(peer) as ((reader, writer), (there, back)):
        await soon(reader.readuntil(b"\r\n\r\n"))
        from_, to = (writer, there) if side == "client" else (back, reader)
        from_.write(b"last words" + close)
        from_.close()
        assert await soon(to.read()) == b"last words" + close


async def test_what_a_client_said_before_it_went_arrives_although_the_upstream_reads_late() -> None:
    peer, size = Peer(), 24 * 2**20
    async with tunnelled(peer) as ((reader, writer), (there, _)):
        await soon(reader.readuntil(b"\r\n\r\n"))
        writer.write(b"a" * size)
        writer.close()
        assert (await soon(there.read())).count(b"a") == size


async def test_a_reset_is_a_reset() -> None:
    peer = Peer()
    async with tunnelled(peer) as ((reader, _), (_, back)):
        await soon(reader.readuntil(b"\r\n\r\n"))
        linger = struct.pack("ii", 1, 0)
        back.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        back.transport.abort()
        with pytest.raises(ConnectionResetError):
            await soon(reader.read())


@pytest.mark.parametrize("code", [1000, 1001, 1008, 1011, 3000, 4999])
async def test_a_real_clients_socket_ends_with_the_servers_code_through_compression(code: int) -> None:
    async def serve(request: web.Request) -> web.WebSocketResponse:
        there = web.WebSocketResponse(compress=True)
        await there.prepare(request)
        async for message in there:
            await there.send_str(message.data * 1_000)
            await there.close(code=code, message=b"so be it")
        return there

    app = web.Application()
    app.router.add_get("/v1/responses", serve)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    async with (
        sidecar(("/v1", url + "/v1")) as port,
        aiohttp.ClientSession() as http,
        http.ws_connect(f"http://127.0.0.1:{port}/v1/responses", compress=15) as here,
    ):
        assert here.compress
        await here.send_str("é")
        assert await here.receive_str(timeout=PATIENCE_S) == "é" * 1_000
        closing = await here.receive(timeout=PATIENCE_S)
        assert (closing.data, closing.extra) == (code, "so be it")
    await runner.cleanup()


async def test_a_switch_that_nobody_asked_for_is_a_bad_gateway() -> None:
    async with upstream(replying(SWITCH)) as there, sidecar(("/v1", there.url)) as port:
        raw = await exchange(port, b"GET /v1/x HTTP/1.1\r\nHost: s\r\nConnection: close\r\n\r\n")
    assert raw.startswith(b"HTTP/1.1 502 ")
    assert b"x-paste-error: upstream_not_http" in raw


async def test_another_upgrade_is_no_offer_for_the_upstream_and_the_request_is_an_ordinary_one() -> None:
    ask = b"GET /v1/x HTTP/1.1\r\nHost: s\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\n"
    async with upstream(replying(answer(b"ok"))) as there, sidecar(("/v1", there.url)) as port:
        assert (await exchange(port, ask + b"HTTP2-Settings: AAMAAABk\r\n\r\n")).endswith(b"ok")
        assert not any(line.lower().startswith((b"upgrade", b"http2")) for line in there.seen[0].header_lines)


@pytest.mark.parametrize("target", ["/v1/x", "/nowhere", "/dead/x"])
async def test_after_a_refused_upgrade_the_connection_is_closed_since_no_request_is_read_on_it(target: str) -> None:
    refused = replying(answer(b"no", status=b"403 Forbidden"))
    async with upstream(refused) as there, sidecar(("/v1", there.url), ("/dead", "http://127.0.0.1:9")) as port:
        raw = await exchange(port, ASK.replace(b"/v1/realtime?model=m", target.encode()))
    assert b"connection: close" in raw.lower()


async def test_a_client_that_goes_takes_the_tunnel_with_it() -> None:
    async def switch(_: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(SWITCH)

    async with upstream(switch) as there, sidecar(("/v1", there.url)) as port:
        reader, writer = await connect(port)
        writer.write(ASK)
        await soon(reader.readuntil(b"\r\n\r\n"))
        writer.transport.abort()
        await until(there.gone)
