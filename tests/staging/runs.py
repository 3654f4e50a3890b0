"""Commands run in a view of this machine, as it is."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from paste_proxy.staging.copying import clear
from paste_proxy.staging.forks import Forks
from paste_proxy.staging.probe import probe
from paste_proxy.staging.types import Overlay, Ran, Staged, Tier
from paste_proxy.staging.view import Running, make_overlays, run_in_view

OUTPUT_BYTES = 2**20
PROGRAM = "/usr/bin/python3"
"""An interpreter of the machine, if it has one: ours may be a script that starts another."""


class Views:
    """Views whose changes lie in folders of `base`."""

    def __init__(self, base: Path, tier: Tier, forks: Forks) -> None:
        self._base, self.tier, self.forks = base, tier, forks
        self._number = 0
        self.overlays: list[Overlay] = []
        """Of the last one."""

    async def run(self, staged: Staged, *, output_bytes: int = OUTPUT_BYTES, running: Running | None = None) -> Ran:
        self._number += 1
        folder = str(self._base / str(self._number))
        await asyncio.to_thread(os.mkdir, folder)
        self.overlays = await asyncio.to_thread(make_overlays, staged.workspace, folder)
        return await run_in_view(
            staged, self.overlays, self.tier, self.forks, folder=folder, output_bytes=output_bytes, running=running
        )

    def changed(self) -> set[str]:
        """What the last one left in its uppers that is no directory, by the paths it had."""
        return {
            f"{overlay.path.rstrip('/')}/{found.relative_to(overlay.upper)}"
            for overlay in self.overlays
            for found in Path(overlay.upper).rglob("*")
            if not found.is_dir()
        }

    async def close(self) -> None:
        await self.forks.close()
        await asyncio.to_thread(clear, str(self._base))


async def views_in(base: Path) -> Views:
    """Skips where this machine has none, with the reason."""
    await asyncio.to_thread(base.mkdir)
    forks = Forks()
    tier, reason = await probe(str(base), forks)
    assert await asyncio.to_thread(os.listdir, base) == []
    if tier is Tier.NONE:
        await forks.close()
        pytest.skip(f"no views here: {reason}")
    return Views(base, tier, forks)


async def found(what: Callable[[], object]) -> None:
    """Wait for something that nobody tells and that takes time to look for."""
    while not await asyncio.to_thread(what):
        pass


def processes_with(mark: str) -> list[int]:
    """All that have `mark` among their arguments."""
    pids = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in words and int(entry.name) != os.getpid():
                pids.append(int(entry.name))
    return pids
