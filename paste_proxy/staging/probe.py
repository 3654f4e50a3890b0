"""Which means of staging this machine has, found out by using them all once."""

import asyncio
import os
import shutil
import sys
import tempfile
from pathlib import Path

from paste_proxy.staging.forks import Forks
from paste_proxy.staging.normal import OWN_UMASK
from paste_proxy.staging.types import Ran, Refused, Staged, Tier
from paste_proxy.staging.view import make_overlays, run_in_view

_TRIAL = """
import os
os.rename("old", "new")
os.unlink("gone")
os.mkdir("made")
open("kept", "a").write("more")
print([name for name in ("old", "new", "gone", "made") if os.path.exists(name)], open("kept").read())
"""
_SHOWS = b"['new', 'made'] lessmore\n"
_TIMEOUT_S = 20.0
_OUTPUT_BYTES = 2**16


async def probe(base: str, forks: Forks) -> tuple[Tier, str]:
    """The tier, and for `Tier.NONE` the reason in words. Raises nothing and leaves nothing.

    Args:
        base: where views are going to keep their changes; a folder that exists.
    """
    tier = Tier.ROOT if os.geteuid() == 0 else Tier.USER
    if not sys.platform.startswith("linux"):
        return Tier.NONE, "only Linux has views of the file system"
    try:
        folder = await asyncio.to_thread(_prepare, base)
    except OSError as fault:
        return Tier.NONE, f"{base} cannot be used: {fault}"
    try:
        ran = await _try(folder, tier, forks)
        seen = await asyncio.to_thread(_untouched, folder)
    except (OSError, Refused) as fault:
        return Tier.NONE, str(fault)
    finally:
        await asyncio.to_thread(remove, folder)
    if ran.poisons:
        return Tier.NONE, "; ".join(ran.poisons)
    if ran.output != _SHOWS or not seen:
        return Tier.NONE, f"a view does not show what is done in it: {ran.output[-200:].decode(errors='replace')}"
    return tier, ""


async def _try(folder: str, tier: Tier, forks: Forks) -> Ran:
    workspace = f"{folder}/workspace"
    staged = Staged(
        argv=(sys.executable, "-I", "-S", "-c", _TRIAL),
        workspace=workspace,
        cwd=workspace,
        env=tuple(sorted(os.environ.items())),
        umask=OWN_UMASK,
        timeout_s=_TIMEOUT_S,
    )
    overlays = await asyncio.to_thread(make_overlays, workspace, folder)
    return await run_in_view(staged, overlays, tier, forks, folder=folder, output_bytes=_OUTPUT_BYTES)


def _prepare(base: str) -> str:
    folder = os.path.realpath(tempfile.mkdtemp(prefix="probe-", dir=base))
    workspace = Path(folder) / "workspace"
    workspace.mkdir()
    for name in ("old", "gone", "kept"):
        (workspace / name).write_text("less")
    return folder


def _untouched(folder: str) -> bool:
    workspace = Path(folder) / "workspace"
    return {path.name: path.read_text() for path in workspace.iterdir()} == dict.fromkeys(
        ("old", "gone", "kept"), "less"
    )


def remove(folder: str) -> None:
    """A folder with the directories of overlays in it; their scratch is closed even to its owner."""
    for scratch in Path(folder).glob("work*/work"):
        scratch.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)
