"""What a command writes: stdout and stderr through one pipe, so that they keep their order."""

import asyncio
import contextlib
import os

_CHUNK_BYTES = 2**16


class Output:
    """Reads one pipe as it fills. Close it; `far_end` is for the child and is closed once that has it.

    Args:
        most_bytes: more than this is not kept, and sets `overflowed`.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._kept = bytearray()
        self._near_end, self.far_end = os.pipe()
        os.set_blocking(self._near_end, False)
        self._loop = asyncio.get_running_loop()
        self.overflowed = asyncio.Event()
        self.ended = asyncio.Event()
        self._loop.add_reader(self._near_end, self._read)

    def handed_over(self) -> None:
        """The child has its end, we need it no longer."""
        far_end, self.far_end = self.far_end, -1
        if far_end >= 0:
            os.close(far_end)

    def drain(self) -> bytes:
        """All that has been written until now, as far as it is kept."""
        while not (self.ended.is_set() or self.overflowed.is_set()) and self._read():
            pass
        return bytes(self._kept)

    def close(self) -> None:
        """Nobody reads any more. Safe to call twice."""
        self.handed_over()
        near_end, self._near_end = self._near_end, -1
        if near_end >= 0:
            self._loop.remove_reader(near_end)
            os.close(near_end)

    def _read(self) -> bool:
        """Whether there was something."""
        with contextlib.suppress(BlockingIOError, InterruptedError):
            chunk = os.read(self._near_end, _CHUNK_BYTES)
            room = self._most_bytes - len(self._kept)
            self._kept += chunk[:room]
            if len(chunk) > room:
                self.overflowed.set()
            if not chunk:
                self.ended.set()
                self._loop.remove_reader(self._near_end)
            return bool(chunk)
        return False
