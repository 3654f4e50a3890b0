"""What `doctor` says of staging: whether this machine can, where stages lie, and what earlier processes left there."""

import asyncio
import os
from collections.abc import Iterator

from paste_proxy.clock import SystemClock
from paste_proxy.config import Config
from paste_proxy.errors import InputFault
from paste_proxy.proxy.finding import Finding, Level, counted
from paste_proxy.proxy.named_files import policy_of
from paste_proxy.proxy.staging import stages_of
from paste_proxy.staging.base import Recovered
from paste_proxy.staging.types import Tier

_MEANS = {Tier.ROOT: "with overlays, as root", Tier.USER: "with overlays in a user namespace"}


async def check_staging(config: Config, *, load: float | None = None) -> list[Finding]:
    """Tries it once, and finishes or clears away what was left; nothing where no rule stages a command.

    Args:
        load: of the machine in the last minutes; None: it is asked for.
    """
    try:
        stages = await asyncio.to_thread(lambda: stages_of(config, policy_of(config), SystemClock()))
    except InputFault:  # of a file, which is told elsewhere
        return []
    if stages is None:
        return []
    await stages.recover()
    await stages.open()
    tier, reason, recovered = stages.tier, stages.reason, stages.recovered
    await stages.close()
    found = f"{_MEANS.get(tier, f'not on this machine: {reason}')}; stages lie in {stages.base}{_told(recovered)}"
    if recovered.unfinished:
        mend = "free or repair what its commit could not write, then start again; until then it is tried at each start"
        return [Finding(Level.FAIL, "staging", found, mend)]
    if tier is Tier.NONE:
        return [Finding(Level.WARN, "staging", found, "commands run when they are asked for, or mend what it names")]
    return [Finding(Level.OK, "staging", found), *_room(os.getloadavg()[1] if load is None else load)]


def _room(load: float) -> Iterator[Finding]:
    """Whether there is any for what gets only what nobody else wants."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if load <= cores:
        return
    found = f"the load of the last minutes, {load:.1f}, is more than {counted(cores, 'core')} can do: what is staged "
    mend = "run less beside the agent, or on more cores; `staging.runs` of /paste/v1/stats tells how staged runs fare"
    yield Finding(Level.WARN, "staging", found + "only gets what nobody else wants, and may hardly move", mend)


def _told(recovered: Recovered) -> str:
    said = ""
    if recovered.committed:
        said += f"; finished {counted(recovered.committed, 'commit')} of a process that is gone"
    if recovered.discarded:
        said += f"; cleared away {counted(recovered.discarded, 'stage')} of a process that is gone"
    if recovered.unfinished:
        said += f"; cannot be finished: {', '.join(recovered.unfinished)}"
    return said
