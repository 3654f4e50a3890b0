"""The most memory that the process had while something ran."""

import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_RESET = Path("/proc/self/clear_refs")
_STATUS = Path("/proc/self/status")
_HIGH_WATER = "VmHWM:"


@dataclass(slots=True)
class Peak:
    """What was found once the block is left."""

    mb: float = 0.0
    """Resident memory of the whole process, 10^6 bytes."""


@contextmanager
def peak_memory() -> Iterator[Peak]:
    """Note the most memory within a block; where Linux's mark cannot be set back, the most so far."""
    with suppress(OSError):
        _RESET.write_text("5")  # sets the mark to what is resident now
    peak = Peak()
    try:
        yield peak
    finally:
        peak.mb = round(_high_water() / 1e6, 1)


def _high_water() -> int:
    """Bytes."""
    with suppress(OSError):
        for line in _STATUS.read_text().splitlines():
            if line.startswith(_HIGH_WATER):
                return int(line.split()[1]) * 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
