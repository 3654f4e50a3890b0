"""How long an event loop is held: something tiny is asked of it over and over, from a process of its own.

`python -m paste_proxy.bench.probe PORT` asks for `/healthz` every two milliseconds until its input closes, then prints
the nanoseconds each answer took as one JSON list.
"""

import asyncio
import select
import socket
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import orjson

from paste_proxy.bench.cpu import cores, pin

_EVERY_S = 0.002
_REQUEST = b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"


def ask_repeatedly(port: int) -> list[int]:
    """Ask until standard input closes; nanoseconds of each answer."""
    took: list[int] = []
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while not select.select([sys.stdin], [], [], _EVERY_S)[0]:
            began = time.monotonic_ns()
            connection.sendall(_REQUEST)
            if not connection.recv(65536):
                raise ConnectionError(f"port {port} closed the probe's connection")
            took.append(time.monotonic_ns() - began)
    return took


@asynccontextmanager
async def probing(port: int, into: list[int]) -> AsyncIterator[None]:
    """Probe a port for as long as the block runs; what the answers took is added to `into`."""
    probe = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "paste_proxy.bench.probe", str(port)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert probe.stdout is not None
    try:
        await probe.stdout.readline()
        yield
    finally:
        said, _ = await probe.communicate(b"")
    into += orjson.loads(said)


if __name__ == "__main__":
    if own := cores():
        pin(0, own[0])
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdout.write(orjson.dumps(ask_repeatedly(int(sys.argv[1]))).decode() + "\n")
