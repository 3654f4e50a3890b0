"""Connections that are open before anything is asked over them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import aiohttp
import pytest

from paste_proxy.errors import UpstreamFault
from paste_proxy.tools import connections
from paste_proxy.tools.approach import Approach
from paste_proxy.tools.connections import Connections

ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"


@dataclass
class Door:
    """A server that counts who comes, and says what it is told to."""

    port: int = 0
    asked: list[bytes] = field(default_factory=list)
    writers: list[asyncio.StreamWriter] = field(default_factory=list)
    came: asyncio.Event = field(default_factory=asyncio.Event)
    greeting: bytes = b""
    """Said to whoever connects, before anything is asked."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/tool?key=secret"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writers.append(writer)
        writer.write(self.greeting)
        self.came.set()
        while head := await _head(reader):
            self.asked.append(head.partition(b" ")[0])
            writer.write(ANSWER)
        writer.close()


async def _head(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return b""


@asynccontextmanager
async def door() -> AsyncIterator[Door]:
    made = Door()
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    yield made
    server.close()
    for writer in made.writers:
        writer.close()


@asynccontextmanager
async def client() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(connector=Connections()) as session:
        yield session


async def said(session: aiohttp.ClientSession, url: str) -> bytes:
    async with session.post(url, data=b"{}") as answer:
        return await answer.read()


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0.001)


async def test_a_connection_opened_ahead_is_the_one_that_the_call_uses_and_nothing_was_sent_before() -> None:
    async with door() as server, client() as session:
        way = Approach(session, server.url)
        assert (await way.prepare(), way.ready) == (True, True)
        await server.came.wait()
        assert server.asked == []
        assert await said(session, server.url) == b"hi"
        assert (server.asked, len(server.writers), way.ready) == ([b"POST"], 1, False)


async def test_there_is_one_at_a_time_and_none_beside_one_that_calls_have_used() -> None:
    async with door() as server, client() as session:
        way = Approach(session, server.url)
        assert sorted(await asyncio.gather(way.prepare(), way.prepare())) == [False, True]
        assert not await way.prepare()
        await said(session, server.url)
        assert not await way.prepare()
        assert (len(server.writers), way.ready) == (1, False)


async def test_calls_do_not_wait_for_one_that_is_being_opened() -> None:
    async with door() as server, client() as session:
        way = Approach(session, server.url)
        opening = asyncio.create_task(way.prepare())
        assert {*await asyncio.gather(said(session, server.url), said(session, server.url))} == {b"hi"}
        await opening


@pytest.mark.parametrize("left", [True, False])
async def test_what_a_server_says_unasked_answers_no_call(left: bool) -> None:
    async with door() as server, client() as session:
        way = Approach(session, server.url)
        server.greeting = b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n"
        await way.prepare()
        await server.came.wait()
        if left:
            server.writers[0].close()
        await settle()
        assert not way.ready
        server.greeting = b""
        assert await said(session, server.url) == b"hi"
        assert len(server.writers) == 2


async def test_one_that_nobody_uses_is_closed_before_its_server_would(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "KEPT_S", 0.0)
    async with door() as server, client() as session:
        way = Approach(session, server.url)
        assert await way.prepare()
        await settle()
        assert not way.ready
        assert await said(session, server.url) == b"hi"
        assert len(server.writers) == 2


async def test_what_cannot_be_reached_is_an_upstreams_fault_that_names_no_secret() -> None:
    async with door() as server:
        url = server.url
    async with client() as session:
        with pytest.raises(UpstreamFault, match="cannot be reached") as told:
            await Approach(session, url).prepare()
    assert "secret" not in str(told.value)


@pytest.mark.parametrize(
    ("url", "pays"),
    [
        ("https://api.example.com/v1", True),
        ("http://api.example.com/v1", True),
        ("https://127.0.0.1:8443/", True),
        ("http://127.0.0.1:5000/lookup", False),
        ("http://localhost/lookup", False),
        ("http://[::1]:1/", False),
    ],
)
async def test_without_tls_nothing_is_opened_ahead_to_this_very_machine(url: str, pays: bool) -> None:
    async with client() as session:
        assert Approach(session, url).pays is pays


async def test_nothing_is_opened_ahead_in_a_pool_that_cannot() -> None:
    async with aiohttp.ClientSession() as session:
        assert not Approach(session, "https://api.example.com").pays


async def test_two_ways_to_one_upstream_through_one_pool_are_one_need() -> None:
    async with client() as session, client() as other:
        ways = [Approach(session, f"https://someone:pass@api.example.com/{path}") for path in ("a?key=1", "b")]
        assert ways[0].need == ways[1].need
        assert "pass" not in ways[0].need.name
        assert Approach(other, "https://api.example.com").need != ways[0].need
        assert Approach(session, "https://api.example.com:8443").need != ways[0].need


async def test_what_one_way_has_ready_another_to_the_same_place_has() -> None:
    async with door() as server, client() as session:
        ways = [Approach(session, f"http://127.0.0.1:{server.port}/{path}") for path in ("a", "b")]
        await ways[0].prepare()
        assert [way.ready for way in ways] == [True, True]
