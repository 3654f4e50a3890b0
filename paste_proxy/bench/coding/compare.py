"""The whole coding replay: recorded sessions in the project, without and with speculation, one side after the other."""

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from pathlib import Path

from paste_proxy.bench.agent import Played
from paste_proxy.bench.coding.mapping import all_mapped
from paste_proxy.bench.coding.playing import POOL, play
from paste_proxy.bench.coding.report import Comparison
from paste_proxy.bench.script import Script
from paste_proxy.speculation.types import Mode

SPEED = 3.0
"""The project's suites are a third of what they stand for, so that a replay takes some minutes."""


def picked(scripts: Iterable[Script], sessions: int | None = None) -> list[Script]:
    """So many of the sessions, or all: in the order of the digests of their names, whatever is in them."""
    return sorted(scripts, key=lambda script: sha256(script.session.encode()).digest())[:sessions]


async def compare(
    scripts: Sequence[Script],
    folder: Path,
    *,
    speed: float = SPEED,
    steps: int | None = None,
    pool: Path = POOL,
    on_task: Callable[[Played], None] = lambda _: None,
) -> Comparison:
    """Play both sides in the same folder.

    Args:
        scripts: recorded sessions, in the order in which they are played.
        folder: where the project is put, twice; what is there goes.
        speed: how many times as fast as life the LLM answers; tools take the time that they take, and all times are
            told as so many times of it.
        steps: so many calls of each session, from its first; None: all.

    Raises:
        OurFault: a sidecar did not start, or answered an agent with a fault.
    """
    played = all_mapped(scripts, steps)
    baseline = await play(played, Mode.OFF, folder=folder, speed=speed, pool=pool, on_task=on_task)
    speculative = await play(played, Mode.SPECULATE, folder=folder, speed=speed, pool=pool, on_task=on_task)
    return Comparison(tuple(played), speed, baseline, speculative)
