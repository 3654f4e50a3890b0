"""What the sidecar's sessions taught, kept on disk: one file for the workspace, one for everywhere.

Read once and written now and then, off the loop. Arguments are what people typed: files are private to the user, and
a habit whose arguments hold a secret is not kept.
"""

import asyncio
import os
import secrets
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import TypeAlias

import structlog

from paste_proxy.clock import Clock
from paste_proxy.config import Config
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.redaction import Redactor
from paste_proxy.mining.forecast.adaptation import GLOBAL_RATE, LOCAL_RATE, Place
from paste_proxy.proxy.memory_file import REFUSED, MemoryFile

log = structlog.get_logger(__name__)

SAVE_EVERY_S = 30.0
_ABANDONED_S = 3_600.0
_UNSAVED = -1, -1
_MOST_FILES = 200
_EVERYWHERE = "everywhere.json"


Undisturbed: TypeAlias = Callable[[Callable[[], Place]], Awaitable[Place]]


async def at_once(copy: Callable[[], Place]) -> Place:
    """Where all that changes a place runs on this very loop."""
    return copy()


@dataclass(slots=True)
class _Kept:
    place: Place
    file: MemoryFile | None
    saved: tuple[int, int]
    """`_progress` when it was last saved."""
    before: Place
    """The place as it was then."""


class Memory:
    """The places of one sidecar, the workspace first.

    Args:
        fault: called with a place for every fault of the disk.
        undisturbed: gives a copy of a place that nothing changes meanwhile.
    """

    def __init__(
        self,
        config: Config,
        clock: Clock,
        fault: Callable[[str], None] = lambda _: None,
        undisturbed: Undisturbed = at_once,
    ) -> None:
        self._clock, self._fault, self._undisturbed = clock, fault, undisturbed
        self._task: asyncio.Task[None] | None = None
        self._saving = asyncio.Lock()
        self._habits = config.recording.payloads == "full"
        self._redactor = Redactor(secrets.token_bytes(32))
        here, everywhere = paths(config) or (None, None)
        self._kept = [self._opened(here, LOCAL_RATE), self._opened(everywhere, GLOBAL_RATE)]

    @property
    def places(self) -> list[Place]:
        """What is known, the nearest first; changed in place as sessions go."""
        return [kept.place for kept in self._kept]

    def start(self) -> None:
        """Save what is new every half a minute from now on."""
        self._task = asyncio.create_task(self._keep(), name="memory")

    async def close(self) -> None:
        """Save what is new, and stop."""
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
        """Save what is new. Raises nothing."""
        async with self._saving:
            await self._save()

    async def _save(self) -> None:
        for kept in self._kept:
            progress = _progress(kept.place)
            if kept.file is None or progress == kept.saved:
                continue
            try:
                taken = await self._undisturbed(partial(kept.place.copy, habits=self._habits))
                await asyncio.to_thread(kept.file.keep, taken, kept.before)
                kept.saved, kept.before = progress, taken
                await asyncio.to_thread(_prune, kept.file.path.parent, self._clock.epoch())
            except Exception as fault:  # noqa: BLE001  whatever a disk does, sessions go on
                self._fault("memory")
                log.warning("memory_fault", path=str(kept.file.path), fault=str(fault))

    def _opened(self, path: Path | None, rate: float) -> _Kept:
        if path is None:
            return _Kept(Place.fresh(rate), None, (0, 0), Place.fresh(rate))
        file = MemoryFile(path, rate, self._clock, self._habits, self.harmless, self._fault)
        found = file.read()
        place = found or Place.fresh(rate)
        return _Kept(place, file, _UNSAVED if found and not self._habits else _progress(place), place.copy())

    def harmless(self, invocation: Invocation) -> bool:
        """Whether no argument holds what looks like a secret."""
        return self._redactor.value(invocation.arguments) == invocation.arguments


def paths(config: Config) -> tuple[Path, Path] | None:
    """The files of the workspace and of everywhere; None where nothing is kept."""
    folder = config.learning.directory
    if folder is None and config.recording.directory is not None:
        records = config.recording.directory.resolve()
        folder = records.with_name(f"{records.name}-memory")
    if folder is None:
        return None
    return folder / _name(config.learning.workspace or Path.cwd()), folder / _EVERYWHERE


def _name(workspace: Path) -> str:
    return f"workspace-{blake2b(os.fsencode(workspace.resolve()), digest_size=8).hexdigest()}.json"


def _progress(place: Place) -> tuple[int, int]:
    return place.moments, place.habits.notes


def _prune(folder: Path, now: float) -> None:
    """Forget the workspaces not worked in for longest, and what was being written when a sidecar was killed."""
    found = sorted(_dated(folder))
    for _, path in found[: max(0, len(found) - _MOST_FILES)]:
        path.unlink(missing_ok=True)
        path.with_name(path.name + REFUSED).unlink(missing_ok=True)
    for part in folder.glob(".*.part"):
        with suppress(OSError):
            if now - part.stat().st_mtime > _ABANDONED_S:
                part.unlink()


def _dated(folder: Path) -> Iterator[tuple[float, Path]]:
    for path in folder.glob("workspace-*.json"):
        with suppress(OSError):
            yield path.stat().st_mtime, path
