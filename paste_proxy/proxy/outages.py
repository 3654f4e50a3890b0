"""Warnings of upstreams that do not answer: at most one in a while for each, however many requests fail."""

import structlog

from paste_proxy.clock import Clock, SystemClock

_QUIET_S = 60.0
_UPSTREAMS = 1_000
"""Upstreams remembered; they come from the configuration, so this is a bound on faults of ours only."""

_log = structlog.get_logger(__name__)


class Outages:
    """What has been said of which upstream, and when.

    Args:
        quiet_s: seconds after a warning in which no other is given of the same upstream.
    """

    def __init__(self, clock: Clock | None = None, *, quiet_s: float = _QUIET_S) -> None:
        self._clock, self._quiet_s = clock or SystemClock(), quiet_s
        self._last: dict[str, tuple[float, int]] = {}

    def warn(self, upstream: str, why: str) -> None:
        """An upstream failed a request.

        Args:
            upstream: its origin or name; nothing secret.
            why: a few words; nothing of the request or the answer.
        """
        now = self._clock.monotonic()
        told, unsaid = self._last.get(upstream, (now, 0))
        if upstream in self._last and now - told < self._quiet_s:
            self._last[upstream] = told, unsaid + 1
            return
        if len(self._last) >= _UPSTREAMS:
            self._last.clear()
        self._last[upstream] = now, 0
        _log.warning("upstream_failed", upstream=upstream, why=why, more_since_last_warning=unsaid)
