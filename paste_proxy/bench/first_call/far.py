"""A tool behind TLS that is some milliseconds away, in a process of its own.

`python -m paste_proxy.bench.first_call.far DIR MS` makes a certificate in DIR, prints a port, and answers there until
its input closes. Every byte takes MS milliseconds each way, but not TCP's own handshake, which this machine's kernel
answers at once: an open connection saves more than is measured here.
"""

import asyncio
import ssl
import subprocess
import sys
from pathlib import Path

_REQUEST = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
_NAMES = "subjectAltName=IP:127.0.0.1"
_ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 4\r\n\r\ntrue"
CERTIFICATE = "far.pem"


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while head := await _head(reader):
        length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
        await reader.readexactly(int(length or 0))
        writer.write(_ANSWER)
    writer.close()


async def _head(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return b""


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seconds: float) -> None:
    """Every byte, so much later."""
    loop = asyncio.get_running_loop()
    while data := await reader.read(2**16):
        loop.call_later(seconds, writer.write, data)
    loop.call_later(seconds, writer.close)


async def serve(folder: Path, seconds: float) -> None:
    """Answer until the input closes; connections that are left then are let fall."""
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
    key, certificate = folder / "far.key", folder / CERTIFICATE
    made = [*_REQUEST.split(), "-addext", _NAMES, "-keyout", str(key), "-out", str(certificate)]
    await asyncio.to_thread(subprocess.run, made, check=True, capture_output=True)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate, key)
    near = await asyncio.start_server(_answer, "127.0.0.1", 0, ssl=tls)
    near_port = near.sockets[0].getsockname()[1]

    async def far(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", near_port)
        await asyncio.gather(
            _carry(reader, inner_writer, seconds), _carry(inner_reader, writer, seconds), return_exceptions=True
        )

    server = await asyncio.start_server(far, "127.0.0.1", 0)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1]), float(sys.argv[2]) / 1_000))
