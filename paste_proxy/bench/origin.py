"""The scripted LLM behind an overhead measurement: a bare protocol in a process of its own.

`python -m paste_proxy.bench.origin` prints its port. A request's `x-bench: CHUNKS,PAUSE_US` header says what to
answer: a JSON body for 0 chunks, else an event stream of so many chunks, each stamped with the
monotonic time at which it was written. Either way the answer is some words and a tool call.
"""

import asyncio
import re
import sys
import time
from typing import cast

import orjson
import uvloop

from paste_proxy.bench.prompt import ARGUMENTS, CALL_ID, TOOL, answer_text

_LENGTH = re.compile(rb"(?i)\r\ncontent-length: *(\d+)")
_BENCH = re.compile(rb"(?i)\r\nx-bench: *(\d+),(\d+)")
_CALL = {"id": CALL_ID, "type": "function", "function": {"name": TOOL, "arguments": ARGUMENTS}}
_MESSAGE = {"role": "assistant", "content": answer_text(0), "tool_calls": [_CALL]}
_JSON = orjson.dumps(
    {
        "id": "bench",
        "object": "chat.completion",
        "created": 0,
        "model": "bench",
        "choices": [{"index": 0, "message": _MESSAGE, "finish_reason": "tool_calls"}],
    }
)
_WHOLE = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (len(_JSON), _JSON)
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
_EVENT = (
    b'data: {"id":"bench","object":"chat.completion.chunk","created":0,"model":"bench","t":"%019d",'
    b'"choices":[{"index":0,"delta":%b,"finish_reason":%b}]}\n\n'
)
_WORD = (b'{"content":"word "}', b"null")
_LAST = (orjson.dumps({"tool_calls": [{"index": 0, **_CALL}]}), b'"tool_calls"')
_DONE = b"data: [DONE]\n\n"


class Origin(asyncio.Protocol):
    """One keep-alive connection."""

    def __init__(self) -> None:
        self._received = bytearray()
        self._transport: asyncio.WriteTransport | None = None
        self._needed = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client connected."""
        self._transport = cast("asyncio.WriteTransport", transport)

    def connection_lost(self, fault: Exception | None) -> None:
        """The client is gone; a stream still running stops writing."""
        self._transport = None

    def data_received(self, data: bytes) -> None:
        """Answer as soon as a request is whole."""
        self._received += data
        if len(self._received) < self._needed:
            return
        end = self._received.find(b"\r\n\r\n")
        if end < 0:
            return
        head = bytes(self._received[: end + 2])
        length = _LENGTH.search(head)
        self._needed = end + 4 + (int(length[1]) if length else 0)
        if len(self._received) >= self._needed:
            self._received.clear()
            self._needed = 0
            wanted = _BENCH.search(head)
            self._answer(int(wanted[1]) if wanted else 0, int(wanted[2]) / 1e6 if wanted else 0.0)

    def _answer(self, chunks: int, pause_s: float) -> None:
        if chunks == 0:
            self._write(_WHOLE)
            return
        self._write(_HEAD)
        if pause_s == 0:
            for order in range(1, chunks + 1):
                self._chunk(order, chunks)
            return
        loop = asyncio.get_running_loop()
        start = loop.time()
        for order in range(1, chunks + 1):
            loop.call_at(start + order * pause_s, self._chunk, order, chunks)

    def _chunk(self, order: int, chunks: int) -> None:
        last = order == chunks
        event = _EVENT % (time.monotonic_ns(), *(_LAST if last else _WORD))
        tail = _DONE if last else b""
        self._write(b"%x\r\n%b%b\r\n" % (len(event) + len(tail), event, tail))
        if last:
            self._write(b"0\r\n\r\n")

    def _write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)


async def _serve() -> None:
    server = await asyncio.get_running_loop().create_server(Origin, "127.0.0.1", 0, backlog=512)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(_serve())
