"""A workspace and stages of it, on whatever this machine has for them."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from paste_proxy.clock import Clock, SystemClock
from paste_proxy.staging.stages import Bounds, Stages
from paste_proxy.staging.types import Staged, Tier

BOUNDS = Bounds(stages=3, bytes=2**30, age_s=60.0, output_bytes=2**20, sweep_s=60.0)
_ENV = (("LC_ALL", "C"), ("PATH", "/usr/local/bin:/usr/bin:/bin"))


def staged(workspace: Path, *argv: str, timeout_s: float = 30.0) -> Staged:
    """A command for a shell, or an argument vector."""
    return Staged(
        argv=argv if len(argv) > 1 else ("/bin/sh", "-c", *argv),
        workspace=str(workspace),
        cwd=str(workspace),
        env=_ENV,
        umask=0o022,
        timeout_s=timeout_s,
    )


@asynccontextmanager
async def opened(
    tmp_path: Path, *, clock: Clock | None = None, bounds: Bounds = BOUNDS, outside: tuple[str, ...] = ()
) -> AsyncIterator[Stages]:
    """Stages that lie in `tmp_path/base`; skips where this machine has none. In the end nothing may be left, unless
    there is no time to sweep, or they were closed before and something was put away since."""
    base = tmp_path / "base"
    stages = Stages(base, clock or SystemClock(), outside=outside, bounds=bounds)
    before = _ours()
    await stages.recover()
    await stages.open()
    try:
        if stages.tier is Tier.NONE:
            pytest.skip(f"no views here: {stages.reason}")
        yield stages
    finally:
        swept = bounds.sweep_s > 0 and not stages.reason
        await stages.close()
    assert {path.name for path in base.iterdir()} <= {"lock", *(() if swept else ("gone",))}
    assert len(asyncio.all_tasks()) == 1
    assert _ours() == before


def _ours() -> tuple[int, int, list[str]]:
    """Open files, mounts and children of this process."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return (
        len(list(Path("/proc/self/fd").iterdir())),
        len(Path("/proc/self/mountinfo").read_bytes().splitlines()),
        children,
    )


def begun(tmp_path: Path, name: str) -> bool:
    """Whether a command that is staged has written a file."""
    try:
        return any((tmp_path / "base").glob(f"process-*/stage-*/upper*/**/{name}"))
    except FileNotFoundError:  # something is cleared away just now
        return False


async def until(condition: Callable[[], object]) -> None:
    """Wait for something that nobody tells."""
    while not condition():  # noqa: ASYNC110  a file that another process makes
        await asyncio.sleep(0.001)
