"""The moment before which nothing counts as changed.

File systems stamp changes with the kernel's coarse clock, which goes on a few milliseconds at a time and may be some
of its ticks behind; since Linux 6.13 a file whose time somebody has looked at gets the exact time instead. Once the
coarse clock has passed what the exact one showed, everything before that is stamped earlier than the coarse clock
shows, and everything from now on with that or later.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from paste_proxy.staging.kernel import syncfs

_COARSE = 5
"""CLOCK_REALTIME_COARSE."""
_PAUSE_S = 0.0005
_SECOND_NS = 10**9
_STEP_NS = 2_000_000
"""A clock set back by less hides only what changed within this after the instant, when the command has read nothing
yet. Slewing moves both clocks that are compared."""
_READINGS = 10
_CLOSE_NS = 100_000


@dataclass(frozen=True, slots=True)
class Instant:
    """Taken once, before the command sees anything."""

    at_ns: int
    """Since 1970, on the clock of file systems."""
    clock_ns: int
    """What the clock was ahead of the time since start-up."""

    @classmethod
    def taken(cls, paths: Iterable[str]) -> "Instant":
        """When the coarse clock has passed the present. Blocks until then, and until the file systems of `paths` have
        written back what they held in memory: a store to a page that some process has mapped shows in a ctime only if
        the page was clean. What is written meanwhile counts as changed.

        Raises:
            OSError: a file system cannot be written back.
        """
        before = time.time_ns()
        while (now := time.clock_gettime_ns(_COARSE)) <= before:
            time.sleep(_PAUSE_S)
        instant = cls(now, _ahead_ns())
        for path in {Path(path).stat().st_dev: path for path in paths}.values():
            syncfs(path)
        return instant

    @property
    def second_ns(self) -> int:
        """No later than this is anything changed afterwards, however coarse its file system's times."""
        return self.at_ns // _SECOND_NS * _SECOND_NS

    def before(self, ctime_ns: int) -> bool:
        """Whether something with this ctime has changed since. A whole second may be what a file system that knows
        no others has made of any moment in it."""
        return ctime_ns >= self.at_ns or ctime_ns == self.second_ns

    def clock_was_set(self) -> bool:
        """Whether times before and after it cannot be compared."""
        return abs(_ahead_ns() - self.clock_ns) > _STEP_NS


def _ahead_ns() -> int:
    """The difference of two clocks, of several readings the one least interrupted."""
    narrowest = (_SECOND_NS * _SECOND_NS, 0)
    for _ in range(_READINGS):
        start = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        now = time.time_ns()
        end = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        narrowest = min(narrowest, (end - start, now - (start + end) // 2))
        if end - start < _CLOSE_NS:
            break
    return narrowest[1]
