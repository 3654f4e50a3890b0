"""Compressed time: everything of a replay runs `speed` times as fast, and is told in uncompressed seconds."""

import asyncio
import time


class Pace:
    """The clock of one replayed side; starts at 0."""

    def __init__(self, speed: float) -> None:
        self.speed = speed
        self._start = time.monotonic()

    def now(self) -> float:
        """Uncompressed seconds since the start."""
        return (time.monotonic() - self._start) * self.speed

    async def sleep(self, seconds: float) -> None:
        """Wait uncompressed seconds."""
        await asyncio.sleep(seconds / self.speed)
