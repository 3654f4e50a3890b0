"""What else went on on the machine."""

import os
import time

from paste_proxy.bench.cpu import cpu_seconds, machine_seconds


class Noise:
    """What the rest of the machine uses of it, from now on; processes of ours that have ended count among it."""

    def __init__(self) -> None:
        self._before = self._used(), time.monotonic()

    def cores(self) -> float | None:
        """On average, in cores; None where the system does not tell."""
        (used, began), now = self._before, self._used()
        return None if used is None or now is None else round((now - used) / (time.monotonic() - began), 2)

    def _used(self) -> float | None:
        machine, ours = machine_seconds(), cpu_seconds(os.getpid())
        return None if machine is None or ours is None else machine - ours
