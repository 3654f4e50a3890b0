"""A live sidecar between a vendor's client and a scripted upstream; its log says what the hub made of their talk."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from paste_proxy.clock import SystemClock
from paste_proxy.config import Config, LlmRoute, Recording
from paste_proxy.events.codec import BadLine, read_lines
from paste_proxy.events.types import Event
from paste_proxy.proxy.app import build_app
from paste_proxy.proxy.composition import Sidecar
from paste_proxy.proxy.hub.tally import Tally
from paste_proxy.proxy.server import app_runner
from tests.proxy.llm_world import Script, Seen, chunked

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\n\r\n"


@dataclass(frozen=True)
class Observed:
    """What there is to know when the sidecar has stopped."""

    url: str
    tally: Tally
    folder: Path

    def events(self) -> list[Event]:
        """The log of all sessions, in order."""
        found: list[Event] = []
        for path in sorted(self.folder.iterdir()):
            for entry in read_lines(path.read_bytes().splitlines(keepends=True)):
                assert not isinstance(entry, BadLine)
                found.append(entry)
        return found


@asynccontextmanager
async def observed(folder: Path, upstream: str) -> AsyncIterator[Observed]:
    """A sidecar whose root goes to `upstream`; its log is complete after the block."""
    config = Config(llm=(LlmRoute(path="/", upstream=upstream),), recording=Recording(directory=folder))
    sidecar = Sidecar(config, SystemClock())
    runner = app_runner(build_app(config, sidecar.parts()))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield Observed(f"http://127.0.0.1:{runner.addresses[0][1]}", sidecar.tally, folder)
    finally:
        await runner.cleanup()


def streaming(answer: Callable[[Seen], bytes], content_type: bytes = b"text/event-stream", piece: int = 97) -> Script:
    """An upstream that sends `answer` in pieces that respect neither events nor characters."""

    async def stream(request: Seen, writer: asyncio.StreamWriter) -> None:
        body = answer(request)
        writer.write(HEAD % content_type)
        for at in range(0, len(body), piece):
            writer.write(chunked(body[at : at + piece], end=b""))
            await writer.drain()
        writer.write(b"0\r\n\r\n")

    return stream


def end_to_end(seen: Seen) -> list[bytes]:
    """The header lines that a proxy has to pass on, whatever their order."""
    hops = (b"host:", b"connection:", b"keep-alive:")
    return sorted(line for line in seen.header_lines if not line.lower().startswith(hops))
