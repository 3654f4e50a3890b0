"""What calls run ahead have used of their budgets and what keeps them back, kept beside what sessions taught.

Written every few seconds while there is anything new, off the loop. Sidecars that share the file share the budgets:
each adds its own to what is kept and goes on from the sum. Pauses that still run go on in the next sidecar.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from paste_proxy.clock import Clock
from paste_proxy.config import Config
from paste_proxy.proxy.budget_format import Kept, read_kept, text_of
from paste_proxy.proxy.memory import paths
from paste_proxy.proxy.memory_file import REFUSED
from paste_proxy.proxy.private_file import alone, write_whole
from paste_proxy.speculation.budgets.budgets import Budgets
from paste_proxy.speculation.budgets.pauses import Pauses
from paste_proxy.speculation.budgets.used import Record, Used, whole

log = structlog.get_logger(__name__)

SAVE_EVERY_S = 2.0


def budget_path(config: Config) -> Path | None:
    """Where it is kept; None: nowhere."""
    files = paths(config)
    return None if files is None else files[0].with_name("budgets.json")


@dataclass(slots=True)
class KeptBudgets:
    """One sidecar's budgets and their file.

    Args:
        fault: called with a place for every fault of the disk.
    """

    budgets: Budgets
    clock: Clock
    path: Path
    fault: Callable[[str], None]
    _pauses: Pauses | None = None
    """Those that were kept last, by the clock of this process."""
    _task: "asyncio.Task[None] | None" = None
    _saving: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def start(self) -> None:
        """Go on from what was kept, and keep what is new from now on."""
        kept = await asyncio.to_thread(self._read)
        now, epoch = self.clock.monotonic(), self.clock.epoch()
        if kept is not None:
            self.budgets.book.begin(kept.record)
            self.budgets.resume(kept.pauses.as_of(epoch).shifted(now - epoch), now)
        running = self.budgets.pauses(now)
        self._pauses = running if running == Pauses(now) else None  # what runs is kept anew: the clock may be another
        self._task = asyncio.create_task(self._keep(), name="budgets")

    async def close(self) -> None:
        """Keep what is new, and stop."""
        async with self._saving:
            if self._task is not None:
                self._task.cancel()
                await asyncio.gather(self._task, return_exceptions=True)
        await self.save()

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(SAVE_EVERY_S)
            await self.save()

    async def save(self) -> None:
        """Keep what is new. Raises nothing."""
        async with self._saving:
            await self._save()

    async def _save(self) -> None:
        now, epoch, book = self.clock.monotonic(), self.clock.epoch(), self.budgets.book
        pauses = self.budgets.pauses(now)
        if book.fresh.used == Used() and pauses == self._pauses:
            return
        record, fresh = book.take()
        try:
            made = await asyncio.to_thread(self._write, Kept(record, pauses.shifted(epoch - now)), fresh)
        except Exception as fault:  # noqa: BLE001  whatever a disk does, sessions go on
            book.not_kept(fresh)
            self.fault("budgets")
            log.warning("budgets_fault", path=str(self.path), fault=str(fault))
        else:
            book.kept(made, record)
            self._pauses = pauses

    def _write(self, kept: Kept, fresh: Record) -> Record:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with alone(self.path.parent):
            stored = self._stored()
            made = whole(stored.record if stored else None, kept.record, fresh)
            write_whole(self.path, text_of(Kept(made, _joined(kept.pauses, stored))))
            return made

    def _read(self) -> Kept | None:
        try:
            with alone(self.path.parent):
                return self._stored()
        except FileNotFoundError:
            return None
        except OSError as fault:
            self.fault("budgets")
            log.warning("budgets_fault", path=str(self.path), fault=str(fault))
            return None

    def _stored(self) -> Kept | None:
        try:
            return read_kept(self.path)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as fault:
            aside = self.path.with_name(self.path.name + REFUSED)
            with suppress(OSError):
                self.path.replace(aside)
            self.fault("budgets")
            log.warning("budgets_refused", path=str(self.path), fault=str(fault), kept_as=str(aside))
            return None


def _joined(pauses: Pauses, stored: Kept | None) -> Pauses:
    """Pauses, with the tools that other sidecars wait for."""
    return pauses if stored is None else pauses.beside(stored.pauses.as_of(pauses.at).closed)
