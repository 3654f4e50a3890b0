"""A whole sidecar in front of an upstream that sends its answer piece by piece, each when the client has the last.

So a piece that is held back anywhere stops the exchange, and what arrives has arrived in time.
"""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

from paste_proxy.config import Config, LlmRoute, Recording
from paste_proxy.proxy.app import TRAFFIC, build_app
from paste_proxy.proxy.composition import compose
from paste_proxy.proxy.http.traffic import Traffic
from paste_proxy.proxy.hub.tally import Tally
from paste_proxy.proxy.server import app_runner
from paste_proxy.wire.protocols import WIRES
from paste_proxy.wire.types import SeenCall, TurnEnd
from tests.field_cases.samples import SAMPLES, Sample
from tests.proxy.llm_world import PATIENCE_S, STREAM_HEAD, Script, Seen, Upstream, chunked, connect, upstream

LINE_ENDS = (b"\n", b"\r\n", b"\r")


def wires() -> list[Sample]:
    """A sample of every wire there is."""
    return [SAMPLES[name] for name in WIRES]


def cuts(stream: bytes) -> Iterator[list[bytes]]:
    """Single bytes, and every way to cut in two."""
    yield [stream[at : at + 1] for at in range(len(stream))]
    for at in range(1, len(stream)):
        yield [stream[:at], stream[at:]]


def read(
    wire: str, pieces: Iterable[bytes], *, clean: bool = True, content_type: str = "text/event-stream"
) -> tuple[list[SeenCall], TurnEnd]:
    """What the wire's reader makes of an answer: the calls as they were given, and the end."""
    reader = WIRES[wire].reader(content_type=content_type)
    seen = [call for piece in pieces for call in reader.feed(piece)]
    return seen, reader.close(clean=clean)


def everywhere(wire: str, stream: bytes, *, clean: bool = True) -> TurnEnd:
    """What the reader makes of a stream, alike wherever it is cut."""
    seen, end = read(wire, [stream], clean=clean)
    given = {call.order: call for call in seen}
    assert all(given[call.order] == call for call in end.calls)
    for pieces in cuts(stream):
        assert read(wire, pieces, clean=clean)[1] == end, pieces[0][-20:]
    return end


def brief(calls: Iterable[SeenCall]) -> list[tuple[str, dict[str, Any]]]:
    """Names and arguments."""
    return [(call.name, call.arguments) for call in calls]


@dataclass
class Steps:
    """The upstream's script: pieces of the next answers, each sent when the one before has arrived."""

    answers: deque[tuple[bytes, Sequence[bytes], bytes]] = field(default_factory=deque)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, _: Seen, writer: asyncio.StreamWriter) -> None:
        head, pieces, end = self.answers.popleft()
        writer.write(head)
        for piece in pieces:
            writer.write(chunked(piece, end=b""))
            await self.arrived.wait()
            self.arrived.clear()
        writer.write(end)


@dataclass
class Client:
    """One connection kept alive."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    steps: Steps

    async def ask(
        self,
        target: str,
        body: bytes,
        pieces: Sequence[bytes],
        *,
        head: bytes = STREAM_HEAD,
        headers: bytes = b"",
        heard: Callable[[int], Awaitable[None]] | None = None,
    ) -> bytes:
        """The answer's body; every piece of it was here, and `heard` by its number, before the next was sent."""
        self.steps.answers.append((head, [piece for piece in pieces if piece], b"0\r\n\r\n"))
        lines = f"POST {target} HTTP/1.1\r\nHost: s\r\nContent-Length: {len(body)}\r\n".encode()
        self.writer.write(lines + headers + b"\r\n" + body)
        return await asyncio.wait_for(self._answer(pieces, heard), PATIENCE_S)

    async def _answer(self, pieces: Sequence[bytes], heard: Callable[[int], Awaitable[None]] | None) -> bytes:
        await self.reader.readuntil(b"\r\n\r\n")
        got, due = b"", b""
        for number, piece in enumerate(filter(None, pieces)):
            due += piece
            while len(got) < len(due):
                got += await self._chunk()
            if heard is not None:
                await heard(number)
            self.steps.arrived.set()
        assert await self._chunk() == b""
        return got

    async def _chunk(self) -> bytes:
        size = int(await self.reader.readuntil(b"\r\n"), 16)
        return (await self.reader.readexactly(size + 2))[:-2]


@dataclass
class Side:
    """A sidecar that observes, and what it has in front and behind."""

    port: int
    there: Upstream
    steps: Steps
    tally: Tally
    traffic: Traffic
    folder: Path

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Client]:
        reader, writer = await connect(self.port)
        try:
            yield Client(reader, writer, self.steps)
        finally:
            writer.close()

    def events(self, kind: str = "") -> list[dict[str, Any]]:
        """What was recorded, of that type; once the sidecar has stopped."""
        lines = [line for path in sorted(self.folder.glob("*")) for line in path.read_bytes().splitlines()]
        events: list[dict[str, Any]] = [json.loads(line) for line in lines]
        return [event for event in events if event["type"] == kind or not kind]


@asynccontextmanager
async def routing(routes: tuple[LlmRoute, ...], config: Config | None = None) -> AsyncIterator[int]:
    """A whole sidecar with exactly these routes; gives its port."""
    async with _serving((config or Config()).model_copy(update={"llm": routes})) as (port, _, _):
        yield port


@asynccontextmanager
async def observing(
    folder: Path, wire: str = "auto", *, script: Script | None = None, config: Config | None = None
) -> AsyncIterator[Side]:
    """A whole sidecar in observe mode whose events go to `folder`; its upstream goes by steps or by a script."""
    steps = Steps()
    async with upstream(script or steps) as there:
        route = LlmRoute.model_validate({"path": "/", "upstream": there.url, "wire": told(wire)})
        update = {"llm": (route,), "recording": Recording(directory=folder)}
        async with _serving((config or Config()).model_copy(update=update)) as (port, tally, traffic):
            yield Side(port, there, steps, tally, traffic, folder)


@asynccontextmanager
async def _serving(config: Config) -> AsyncIterator[tuple[int, Tally, Traffic]]:
    parts = compose(config)
    app = build_app(config, parts)
    runner = app_runner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield runner.addresses[0][1], parts.tally, app[TRAFFIC]
    finally:
        await runner.cleanup()


def told(wire: str) -> str:
    """What a route's `wire` has to say for its requests to be read so: most are known by their path."""
    return wire if wire.endswith("_text") else "auto"
