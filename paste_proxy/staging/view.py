"""A command run in a copy-on-write view of its workspace: what it changes lies in the overlays' upper directories."""

import asyncio
import contextlib
import json
import os
import shutil
import socket
import stat
from collections.abc import Sequence
from pathlib import Path

from paste_proxy.staging.copying import attributes
from paste_proxy.staging.forks import Forks
from paste_proxy.staging.marks import PREFIXES
from paste_proxy.staging.mounts import covers, layout, mount_points
from paste_proxy.staging.normal import TOO_MUCH, ends
from paste_proxy.staging.orders import Orders
from paste_proxy.staging.output import Output
from paste_proxy.staging.scene import PRIVATE_DEVICES
from paste_proxy.staging.showing import lists_uncounted
from paste_proxy.staging.types import Overlay, Ran, Refused, Staged, Tier

_OPTIONS = {Tier.ROOT: "redirect_dir=on,index=off,metacopy=off,volatile", Tier.USER: "userxattr,volatile"}
"""Volatile, or the whole file system below would be written back when a view ends."""
_BORDER = b"GIT_DISCOVERY_ACROSS_FILESYSTEM"
"""In what git says where its search ended at an overlay's root instead of the machine's."""
_GRACE_S = 10.0
"""For a view to end once it is told to, within which its outer process kills the others; after that all views are."""
_REPORT_BYTES = 64 * 2**20
_OFTEN_USED = (os.path.realpath(Path.home()), "/tmp", "/var/tmp")  # noqa: S108  looked at, not written to
"""Where commands change something beside their workspace."""
_MEMORY_BYTES = 8 * 2**30
_DISK_BYTES = 4 * 2**30


class Running:
    """The caller's hand on a run."""

    def __init__(self) -> None:
        self.promoted = asyncio.Event()

    def promote(self) -> None:
        """The agent waits for it now: it gets the same share of the machine as any other. Safe at any time."""
        self.promoted.set()


def make_overlays(workspace: str, folder: str) -> list[Overlay]:
    """Empty overlays for a view of the whole machine, outer ones first, the changes to be kept in `folder`. Blocks.

    Raises:
        Refused: the workspace cannot be covered.
        OSError: `folder` cannot be written.
    """
    used = [path for path in (workspace, *_OFTEN_USED) if Path(path).is_dir()]
    covered = layout(used, unprivileged=os.geteuid() != 0).covered
    if not covers(covered, workspace):
        raise Refused("other file systems are mounted in or around the workspace")
    overlays = []
    for number, path in enumerate(covered):
        overlay = Overlay(path=path, upper=f"{folder}/upper{number}", work=f"{folder}/work{number}")
        Path(overlay.upper).mkdir()
        Path(overlay.work).mkdir()
        look_alike(overlay.upper, path)
        overlays.append(overlay)
    return overlays


async def run_in_view(
    staged: Staged,
    overlays: Sequence[Overlay],
    tier: Tier,
    forks: Forks,
    *,
    folder: str,
    output_bytes: int,
    memory_bytes: int = _MEMORY_BYTES,
    disk_bytes: int = _DISK_BYTES,
    running: Running | None = None,
) -> Ran:
    """Run it to its end. `poisons` says why it may not be committed; it is stopped at the first such reason.

    Cancelling ends every process of the view and waits until they are gone; so does the end of this process, however
    it comes.

    Args:
        folder: where the overlays' changes are.
        output_bytes: more is a poison.
        running: with it the command only gets what nobody else wants of the machine, until it is promoted; without it
            as much as any other.
        memory_bytes, disk_bytes: for all processes of it together, measured now and then.

    Raises:
        Refused: there is no view of it on this machine, with the reason.
        OSError: the same.
    """
    hushed = running is not None and not running.promoted.is_set()
    orders = await asyncio.to_thread(_orders, staged, overlays, tier, folder, memory_bytes, disk_bytes, hushed)
    said, output = Output(_REPORT_BYTES), Output(output_bytes)
    try:
        control = await forks.view(output.far_end, said.far_end)
        try:
            said.handed_over()
            output.handed_over()
            poisons = await _accompany(control, orders, said, output, staged.timeout_s, running)
        finally:
            control.close()
            await _end(said, forks)
        written = output.drain()
        if output.overflowed.is_set():
            poisons = (TOO_MUCH,)
        poisons = poisons or await asyncio.to_thread(_given_away, written, staged.workspace)
        return _ran(said.drain(), written, poisons)
    finally:
        output.close()
        said.close()


async def _accompany(
    control: socket.socket, orders: bytes, said: Output, output: Output, timeout_s: float, running: Running | None
) -> tuple[str, ...]:
    with contextlib.suppress(OSError):  # it is over already, and has said why
        await asyncio.get_running_loop().sock_sendall(control, len(orders).to_bytes(4, "big") + orders)
    promoting = asyncio.ensure_future(_promote(control, running)) if running else None
    try:
        return await ends(said.ended.wait(), output, timeout_s)
    finally:
        if promoting:
            promoting.cancel()


async def _promote(control: socket.socket, running: Running) -> None:
    await running.promoted.wait()
    with contextlib.suppress(OSError):  # it is over
        control.send(b"p")


async def _end(said: Output, forks: Forks) -> None:
    """Wait until there is no process of it."""
    ended = asyncio.ensure_future(said.ended.wait())
    while not ended.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait((ended,), timeout=_GRACE_S)
            if not ended.done():
                forks.kill()


def _given_away(written: bytes, workspace: str) -> tuple[str, ...]:
    """What the command has said that it would not have said in a normal run."""
    if _BORDER in written:
        return ("git looked for a repository across a border of the view",)
    # a file system that counts none shows the same in a normal run
    if lists_uncounted(written) and Path(workspace).stat().st_nlink > 1:
        return ("it listed directories whose links a view does not count",)
    return ()


def _ran(said: bytes, output: bytes, poisons: tuple[str, ...]) -> Ran:
    try:
        report = json.loads(said)
    except ValueError:
        if not poisons:
            raise Refused(f"the view could not be made: {said[-500:].decode(errors='replace')}") from None
        report = {"exit_code": -9, "poisons": [], "ran_s": 0.0, "cpu_s": None, "looked_at": [], "absent": []}
    if fault := report.get("fault"):
        raise Refused(f"the view could not be made: {fault}")
    return Ran(
        exit_code=report["exit_code"],
        output=output,
        ran_s=report["ran_s"],
        cpu_s=report["cpu_s"],
        poisons=(*poisons, *report["poisons"]),
        looked_at=frozenset(report["looked_at"]),
        absent=frozenset(report["absent"]),
    )


def _orders(
    staged: Staged,
    overlays: Sequence[Overlay],
    tier: Tier,
    folder: str,
    memory_bytes: int,
    disk_bytes: int,
    hushed: bool,
) -> bytes:
    strace = shutil.which("strace")
    if strace is None:
        raise Refused("strace is not installed")
    if tier is Tier.NONE:
        raise Refused("this machine has no views")
    orders = Orders(
        argv=staged.argv,
        cwd=staged.cwd,
        env=dict(staged.env),
        umask=staged.umask,
        workspace=staged.workspace,
        unprivileged=tier is Tier.USER,
        hushed=hushed,
        options=_OPTIONS[tier],
        overlays=[(overlay.path, overlay.upper, overlay.work) for overlay in overlays],
        kept=layout((), unprivileged=tier is Tier.USER).kept,
        mounts=[path for path in mount_points() if not path.startswith(("/proc", "/sys", "/dev"))],
        devices=sorted(set(_names("/dev")) - PRIVATE_DEVICES),
        shared_memory=_names("/dev/shm"),  # noqa: S108  looked at, not written to
        closed=[overlay.path for overlay in overlays if not os.access(overlay.path, os.W_OK)],
        strace=strace,
        folder=folder,
        memory_bytes=memory_bytes,
        disk_bytes=disk_bytes,
    )
    return orders.packed()


def _names(folder: str) -> list[str]:
    return [entry.name for entry in os.scandir(folder)] if Path(folder).is_dir() else []


def look_alike(upper: str, path: str) -> None:
    """Make a directory look like another one, as far as we can: the one on top is the one that is seen.

    Raises:
        OSError: it is not ours, or there is no other one.
    """
    lower, own, wanted = Path(path).stat(), attributes(upper), attributes(path)
    with contextlib.suppress(PermissionError):
        os.chown(upper, lower.st_uid, lower.st_gid)
    for name in own.keys() | wanted.keys():
        if own.get(name) != wanted.get(name) and not name.startswith(PREFIXES):
            with contextlib.suppress(OSError):  # not all of them can be given by everybody, and everywhere
                if name in wanted:
                    os.setxattr(upper, name, bytes.fromhex(wanted[name]))
                else:
                    os.removexattr(upper, name)
    Path(upper).chmod(stat.S_IMODE(lower.st_mode))
    os.utime(upper, ns=(lower.st_atime_ns, lower.st_mtime_ns))
