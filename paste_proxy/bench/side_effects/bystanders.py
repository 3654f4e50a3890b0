"""What commands could reach and must not: a port that waits for anybody, and a process that goes on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

_HOST = "127.0.0.1"
_SHOWN_BYTES = 80
_PATIENCE_S = 1.0


@dataclass
class Bystanders:
    """A port and a process."""

    port: int
    pid: int
    came: list[str] = field(default_factory=list)
    """What came to the port."""
    killed: bool = False

    @property
    def places(self) -> dict[str, str]:
        """What commands name them by."""
        url = f"http://{_HOST}:{self.port}"
        return {"url": url, "host": _HOST, "port": str(self.port), "pid": str(self.pid)}

    @property
    def touched(self) -> list[str]:
        """What happened to them, one line each."""
        return [
            *(f"{_HOST}:{self.port} was sent {said}" for said in self.came),
            *["a process was killed"] * self.killed,
        ]


class _Letters(asyncio.DatagramProtocol):
    def __init__(self, came: list[str]) -> None:
        self._came = came

    def datagram_received(self, data: bytes, addr: tuple[str | object, int]) -> None:
        self._came.append(f"a datagram {data[:_SHOWN_BYTES]!r}")


@asynccontextmanager
async def bystanders() -> AsyncIterator[Bystanders]:
    """They stand there; how the process fared is known at the end."""
    came = list[str]()

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        said = b""
        with suppress(TimeoutError, ConnectionError):
            said = await asyncio.wait_for(reader.read(_SHOWN_BYTES), _PATIENCE_S)
        came.append(repr(said))
        writer.close()

    server = await asyncio.start_server(take, _HOST, 0)
    port = server.sockets[0].getsockname()[1]
    letters, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: _Letters(came), local_addr=(_HOST, port)
    )
    process = await asyncio.create_subprocess_exec("sleep", "86400")
    there = Bystanders(port, process.pid, came)
    try:
        yield there
    finally:
        await asyncio.sleep(0)  # what ended without us is known then
        there.killed = process.returncode is not None
        if process.returncode is None:
            process.kill()
        await process.wait()
        letters.close()
        server.close()
        await server.wait_closed()
