"""One file of a sidecar's memory: read, and written anew with what other sidecars have put there in between.

One that cannot be read as ours is put aside, the latest such alone.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import structlog

from paste_proxy.clock import Clock
from paste_proxy.errors import InputFault
from paste_proxy.events.invocation import Invocation
from paste_proxy.mining.forecast.adaptation import Place
from paste_proxy.mining.forecast.memory import LARGEST, load_place, merged, text_of
from paste_proxy.proxy.private_file import alone, write_whole

log = structlog.get_logger(__name__)

REFUSED = ".refused"
_HALF_LIFE_S = 30 * 86_400.0
"""What was learned counts half after so long without being taught again."""
_MOST_HALVES = 60.0


def stored(path: Path, rate: float, now: float) -> Place:
    """The place of a file, faded by the time since it was written.

    Args:
        now: in seconds since 1970.

    Raises:
        FileNotFoundError: there is none.
        OSError, ValueError, InputFault: it cannot be read as one of ours.
    """
    if path.stat().st_size > LARGEST:
        raise ValueError(f"larger than {LARGEST} bytes")
    place, saved = load_place(path.read_text("utf-8"), str(path), rate)
    place.faded(0.5 ** min(_MOST_HALVES, max(0.0, now - saved) / _HALF_LIFE_S))
    return place


@dataclass(slots=True)
class MemoryFile:
    """Blocks; to be used by one thread at a time."""

    path: Path
    rate: float
    clock: Clock
    habits: bool
    """Whether they are kept; if not, those that others kept go."""
    harmless: Callable[[Invocation], bool]
    """Whether an invocation may be kept."""
    fault: Callable[[str], None]
    """Called with a place for every fault of the disk."""

    def read(self) -> Place | None:
        """What it holds; None where there is nothing, or nothing of ours."""
        try:
            with alone(self.path.parent):
                return self._stored()
        except FileNotFoundError:
            return None
        except OSError as fault:
            self.fault("memory")
            log.warning("memory_fault", path=str(self.path), fault=str(fault))
            return None

    def keep(self, place: Place, before: Place) -> None:
        """Write a place.

        Args:
            before: the same when it was last read or kept; what others have added since stays.

        Raises:
            OSError: the disk does not take it, or another sidecar holds the folder.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with alone(self.path.parent):
            kept = self._stored()
            whole = place if kept is None else merged(kept, place, before)
            write_whole(self.path, text_of(whole, self.clock.epoch(), self.harmless))

    def _stored(self) -> Place | None:
        try:
            return stored(self.path, self.rate, self.clock.epoch()).copy(habits=self.habits)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, InputFault) as fault:
            aside = self.path.with_name(self.path.name + REFUSED)
            with suppress(OSError):
                self.path.replace(aside)
            self.fault("memory")
            log.warning("memory_refused", path=str(self.path), fault=str(fault), kept_as=str(aside))
            return None
