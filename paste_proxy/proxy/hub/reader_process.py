"""Reads large LLM requests in a process of its own: parsing holds the interpreter and would stall every stream.

One process, started at the first large request, reads one request after the other. It is a plain child
on two pipes, so that it never runs the program it was started from.
"""

import asyncio
import pickle
import struct
import sys
from collections.abc import Sequence
from typing import BinaryIO, cast

from paste_proxy.errors import OurFault
from paste_proxy.proxy.hub.reading import Reading, reading
from paste_proxy.wire.protocols import WIRES

_HEAD = struct.Struct(">HIQ")
"""Lengths of the wire's name, of the target and of the body."""
_LENGTH = struct.Struct(">Q")


def read_request(wire: str, target: str, body: bytes, prompt_chars: int) -> Reading | None:
    """The request, or None if it is none of that protocol; `prompt_chars` as for `reading`."""
    request = WIRES[wire].read_request(body, target=target)
    return reading(request, prompt_chars) if request is not None else None


class ReaderProcess:
    """The sidecar's end.

    Args:
        prompt_chars: as for `reading`.
    """

    def __init__(self, prompt_chars: int = 0) -> None:
        self._prompt_chars = prompt_chars
        self._process: asyncio.subprocess.Process | None = None
        self._one_at_a_time = asyncio.Lock()

    async def read(self, wire: str, target: str, body: Sequence[bytes]) -> Reading | None:
        """What `read_request` gives.

        Raises:
            OurFault: the process died over it; the next request starts a new one.
        """
        async with self._one_at_a_time:
            try:
                return await self._ask(wire.encode(), target.encode("utf-8", "surrogateescape"), body)
            except (OSError, asyncio.IncompleteReadError, pickle.UnpicklingError) as fault:
                await self._stop()
                raise OurFault(f"the process that reads large requests broke: {fault}") from fault
            except asyncio.CancelledError:
                await self._stop()
                raise

    async def _ask(self, wire: bytes, target: bytes, body: Sequence[bytes]) -> Reading | None:
        if self._process is None:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", __name__, str(self._prompt_chars)),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
            )
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(_HEAD.pack(len(wire), len(target), sum(map(len, body))) + wire + target)
        for piece in body:
            stdin.write(piece)
            await stdin.drain()
        (length,) = _LENGTH.unpack(await stdout.readexactly(_LENGTH.size))
        return cast("Reading | None", pickle.loads(await stdout.readexactly(length)))  # noqa: S301 - our own child

    async def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            if process.returncode is None:
                process.kill()
            await process.wait()

    async def close(self) -> None:
        """End the process."""
        await self._stop()


def serve(requests: BinaryIO, answers: BinaryIO, prompt_chars: int) -> None:
    """What the process runs: answer until there is no more to read."""
    while head := requests.read(_HEAD.size):
        name, path, length = _HEAD.unpack(head)
        wire, target = requests.read(name).decode(), requests.read(path).decode("utf-8", "surrogateescape")
        read = read_request(wire, target, requests.read(length), prompt_chars)
        answer = pickle.dumps(read, pickle.HIGHEST_PROTOCOL)
        answers.write(_LENGTH.pack(len(answer)) + answer)
        answers.flush()


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer, int(sys.argv[1]))
