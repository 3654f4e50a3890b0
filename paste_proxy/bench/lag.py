"""How late the sidecar's event loop ran its timers, from its own histogram."""

import re

import aiohttp

_BUCKET = re.compile(r'^paste_loop_lag_seconds_bucket\{le="([^"]+)"\} (\S+)$', re.MULTILINE)


class LoopLag:
    """Samples taken between `start` and `read`.

    Args:
        port: the sidecar's.
    """

    def __init__(self, port: int) -> None:
        self._url = f"http://127.0.0.1:{port}/metrics"
        self._before: dict[float, float] = {}

    async def start(self) -> None:
        """Forget what was sampled so far."""
        self._before = await self._buckets()

    async def read(self) -> tuple[int, float | None]:
        """How many samples, and the least bucket bound (seconds) that none of them exceeds; None without any."""
        now = await self._buckets()
        new = {bound: count - self._before.get(bound, 0.0) for bound, count in now.items()}
        samples = round(max(new.values(), default=0.0))
        return samples, min((bound for bound, count in new.items() if count >= samples), default=None)

    async def _buckets(self) -> dict[float, float]:
        async with aiohttp.ClientSession() as http, http.get(self._url) as answer:
            return buckets(await answer.text())


def buckets(exposition: str) -> dict[float, float]:
    """Upper bound in seconds -> samples at or below it."""
    return {float(bound): float(count) for bound, count in _BUCKET.findall(exposition)}
