"""A sidecar in front of an upstream that is scripted byte by byte, and a gate that notes what it is shown."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

from paste_proxy.config import Config, LlmRoute
from paste_proxy.proxy.app import Parts, build_app
from paste_proxy.proxy.forwarding import NothingSeen
from paste_proxy.proxy.hub.tally import Tally
from paste_proxy.proxy.ports import LlmGate, Pieces, TurnTee, Waiting
from paste_proxy.proxy.server import app_runner

PATIENCE_S = 10.0


@dataclass
class Turn:
    """What the gate was shown of one exchange."""

    wire: str
    headers: Mapping[str, str]
    body: bytes | None
    status: int | None = None
    chunks: list[bytes] = field(default_factory=list)
    clean: bool | None = None
    over: asyncio.Event = field(default_factory=asyncio.Event)

    def sent(self) -> None:
        pass

    def answer(self, status: int, headers: Mapping[str, str]) -> None:
        self.status = status

    def chunk(self, data: bytes) -> None:
        self.chunks.append(data)

    def closed(self, *, clean: bool, whole: bool = True) -> None:
        assert self.clean is None, "closed twice"
        self.clean = clean and whole
        self.over.set()


@dataclass
class NotingGate:
    turns: list[Turn] = field(default_factory=list)

    def opened(
        self, *, wire: str, target: str, headers: Mapping[str, str], body: Pieces | None, waiting: Waiting | None = None
    ) -> TurnTee:
        self.turns.append(Turn(wire, headers, None if body is None else b"".join(body)))
        return self.turns[-1]

    def tunnelled(self) -> Callable[[], None]:
        return lambda: None


@dataclass
class Seen:
    """A request as the upstream got it, byte for byte; a chunked body is joined."""

    head: bytes
    body: bytes

    @property
    def target(self) -> bytes:
        return self.head.split(b" ", 2)[1]

    @property
    def header_lines(self) -> list[bytes]:
        return self.head.split(b"\r\n")[1:-2]


@dataclass
class Upstream:
    port: int = 0
    seen: list[Seen] = field(default_factory=list)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    """The sidecar closed a connection."""
    connections: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


Script = Callable[[Seen, asyncio.StreamWriter], Awaitable[None]]


def replying(raw: bytes) -> Script:
    async def reply(_: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(raw)
        await writer.drain()

    return reply


def answer(body: bytes, *headers: bytes, status: bytes = b"200 OK") -> bytes:
    lines = [b"HTTP/1.1 " + status, *headers, b"Content-Length: %d" % len(body)]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def chunked(*pieces: bytes, end: bytes = b"0\r\n\r\n") -> bytes:
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + end


STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


@asynccontextmanager
async def upstream(script: Script) -> AsyncIterator[Upstream]:
    """Runs `script` after every request read, until either side closes."""
    there = Upstream()
    talks: set[asyncio.Task[None]] = set()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there.connections += 1
        try:
            while True:
                request = await read_request(reader)
                there.seen.append(request)
                there.asked.set()
                answering = asyncio.ensure_future(script(request, writer))
                await answering
                if writer.is_closing():
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            there.gone.set()
            writer.close()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(talk(reader, writer))
        talks.add(task)
        task.add_done_callback(talks.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    there.port = server.sockets[0].getsockname()[1]
    try:
        yield there
    finally:
        server.close()
        for task in list(talks):
            task.cancel()
        await asyncio.gather(*talks, return_exceptions=True)


async def read_request(reader: asyncio.StreamReader) -> Seen:
    head = await reader.readuntil(b"\r\n\r\n")
    lowered = head.lower()
    if b"transfer-encoding: chunked" in lowered:
        return Seen(head, await read_chunked(reader))
    length = 0
    for line in lowered.split(b"\r\n"):
        if line.startswith(b"content-length:"):
            length = int(line.partition(b":")[2])
    return Seen(head, await reader.readexactly(length))


async def read_chunked(reader: asyncio.StreamReader) -> bytes:
    body = b""
    while size := int(await reader.readuntil(b"\r\n"), 16):
        body += (await reader.readexactly(size + 2))[:-2]
    await reader.readexactly(2)
    return body


@asynccontextmanager
async def sidecar(
    *routes: tuple[str, str],
    gate: LlmGate | None = None,
    config: Config | None = None,
    tally: Tally | None = None,
    more: tuple[Callable[[web.Application], None], ...] = (),
) -> AsyncIterator[int]:
    """A sidecar with those (path, upstream) routes; gives its port."""
    config = (config or Config()).model_copy(
        update={"llm": tuple(LlmRoute(path=path, upstream=there, wire="openai_chat") for path, there in routes)}
    )
    tally = tally or Tally()
    made = Parts(tally=tally, turns=gate or NotingGate(), snapshot=NothingSeen(tally), sessions=lambda: 0, routes=more)
    runner = app_runner(build_app(config, made))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


async def connect(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.wait_for(asyncio.open_connection("127.0.0.1", port, limit=2**22), PATIENCE_S)


async def exchange(port: int, raw: bytes) -> bytes:
    """Send raw bytes and read until the sidecar closes; a reset is raised."""
    reader, writer = await connect(port)
    try:
        writer.write(raw)
        return await asyncio.wait_for(reader.read(), PATIENCE_S)
    finally:
        writer.close()


def post(target: str, body: bytes, *headers: bytes) -> bytes:
    lines = [f"POST {target} HTTP/1.1".encode(), b"Host: sidecar", b"Connection: close", *headers]
    return b"\r\n".join([*lines, b"Content-Length: %d" % len(body)]) + b"\r\n\r\n" + body


def joined(raw: bytes) -> bytes:
    """The body of a raw chunked answer.

    Raises:
        ValueError: it has no end.
    """
    rest, body = raw.partition(b"\r\n\r\n")[2], b""
    while True:
        size, found, rest = rest.partition(b"\r\n")
        if not found:
            raise ValueError("the answer breaks off")
        if not int(size, 16):
            return body
        body, rest = body + rest[: int(size, 16)], rest[int(size, 16) + 2 :]


async def until(event: asyncio.Event) -> None:
    await asyncio.wait_for(event.wait(), PATIENCE_S)
