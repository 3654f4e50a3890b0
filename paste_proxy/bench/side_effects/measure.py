"""The measurement: agents play until the sidecar has counted enough candidates, then everything is looked through.

Nobody here asks for an effect. So each request that reached a tool which has some, each change in the folders and each
connection to a port that nobody was to call is an effect of a guess.
"""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from paste_proxy.bench.pace import Pace
from paste_proxy.bench.side_effects.bystanders import Bystanders, bystanders
from paste_proxy.bench.side_effects.folder import Folder
from paste_proxy.bench.side_effects.guesses import pool_text, unwanted
from paste_proxy.bench.side_effects.playing import play, serving
from paste_proxy.bench.side_effects.report import Report
from paste_proxy.bench.side_effects.setting import files
from paste_proxy.bench.side_effects.surroundings import Surroundings
from paste_proxy.bench.sidecar import sidecar_of
from paste_proxy.errors import OurFault
from paste_proxy.events.codec import BadLine
from paste_proxy.proxy.audit_log import log_files, read_log
from paste_proxy.speculation.audit import Audit
from paste_proxy.staging.forks import Forks
from paste_proxy.staging.probe import probe
from paste_proxy.staging.types import Tier

SPEED = 200.0
"""How many times as fast as life."""
_LATE_S = 1.0
"""What a command has left running could have an effect so much later."""


async def measure(
    candidates: int, root: Path, *, policies: Sequence[Path] = (), on_refused: Callable[[int], None] = lambda _: None
) -> Report:
    """Play, and look.

    Args:
        candidates: how many at least.
        root: an empty folder that nobody else uses, of a name that no other has.
        policies: files whose rules come before those of the measurement.
        on_refused: told how many candidates were refused so far.

    Raises:
        OurFault: the sidecar did not start, answered an agent with a fault, foresees nothing or lost count.
    """
    folder = Folder(root)
    await asyncio.to_thread(folder.make)
    try:
        report = await _measured(candidates, folder, policies, on_refused)
    finally:
        await asyncio.to_thread(folder.clear_marks)
    if report.candidates < candidates:
        raise OurFault(f"the measured sidecar's log tells of {report.candidates} candidates only")
    return report


async def _measured(
    candidates: int, folder: Folder, policies: Sequence[Path], on_refused: Callable[[int], None]
) -> Report:
    (tier, reason), before = await _tier(folder), await asyncio.to_thread(folder.look)
    async with bystanders() as bystander:
        guesses = unwanted(_places(bystander, folder))
        surroundings, pool = Surroundings(Pace(SPEED), guesses), pool_text(guesses)
        async with serving(surroundings) as served:
            config = partial(files, folder=folder, served=served, policies=policies, pool=pool)
            async with sidecar_of(config) as sidecar:
                stats = await play(surroundings, sidecar.url, until=candidates, on_refused=on_refused)
        await asyncio.sleep(_LATE_S)
    after, left = await asyncio.to_thread(folder.look), await asyncio.to_thread(folder.left_staged)
    audit, account = await asyncio.to_thread(_audit, folder.events), surroundings.account()
    return Report(
        sessions=surroundings.sessions,
        calls=surroundings.calls,
        refused=dict(audit.refused.most_common()),
        side_effecting=audit.side_effecting,
        launched=audit.ran.all.jobs,
        staged=audit.staged,
        in_views=_ran_in_views(stats),
        rehearsed=audit.rehearsed.all.jobs,
        staging=f"not on this machine: {reason}" if tier is Tier.NONE else f"as {tier}",
        ran_ahead=len(account.hits) + len(account.wasted),
        effects=(
            *surroundings.effects(),
            *before.changed(after),
            *(f"{name} was left where commands are staged" for name in left),
            *bystander.touched,
        ),
    )


def _places(bystander: Bystanders, folder: Folder) -> dict[str, str]:
    return {**bystander.places, **{name: str(mark) for name, mark in folder.marks.items()}}


def _ran_in_views(stats: dict[str, Any]) -> int:
    staging = stats["staging"]
    return 0 if staging is None else int(staging["staged"])


def _audit(events: Path) -> Audit:
    """What the sidecar's own log says of it."""
    audit = Audit()
    for event in read_log(log_files([events], 0.0)):
        if not isinstance(event, BadLine):
            audit.add(event)
    return audit


async def _tier(folder: Folder) -> tuple[Tier, str]:
    forks = Forks()
    try:
        return await probe(str(folder.stages), forks)
    finally:
        await forks.close()
