"""The measurement: two sidecars that live through all of it, and blocks of the same calls through one and the other.

Which of them goes first is drawn for each pair of blocks, so that drift of the machine hits both alike. One sidecar is
off; the other speculates with guesses that are never right and always more than it has room for. Before the next block
begins, all of its guesses have come to their end.
"""

import asyncio
import gc
from collections.abc import Callable, Coroutine, Sequence
from random import Random

import numpy as np

from paste_proxy.bench.cpu import cores
from paste_proxy.bench.interference.noise import Noise
from paste_proxy.bench.interference.plan import LOADS, SLOTS, Kind, Load, planned
from paste_proxy.bench.interference.playing import Sample
from paste_proxy.bench.interference.ratios import Pair, Times, compared
from paste_proxy.bench.interference.saturation import Saturation
from paste_proxy.bench.interference.side import Side, both_sides
from paste_proxy.events.values import Json

CALLS_OF_A_BLOCK = 8
"""Of each agent; a second or two, so that both blocks of a pair see the same machine."""


async def measure(
    pairs: int,
    *,
    calls: int = CALLS_OF_A_BLOCK,
    seed: int = 0,
    loads: Sequence[Load] = LOADS,
    on_block: Callable[[str], None] = lambda _: None,
) -> dict[str, Json]:
    """Both sides under each load: the object that `--json` prints.

    Args:
        pairs: of blocks, for each load.
        calls: of each agent in a block.
        seed: of the calls and of the order of sides.
        on_block: called with a load's name after each of its `2 * pairs` blocks.

    Raises:
        OurFault: a sidecar or the tools did not start, or a call failed.
    """
    noise = await asyncio.to_thread(Noise)
    async with both_sides() as sides:
        results: list[Json] = [await _compared(load, sides, pairs, calls, seed, on_block) for load in loads]
    others = await asyncio.to_thread(noise.cores)
    return {"seed": seed, "cores": len(cores()) or None, "noise_cores": others, "loads": results}


async def _compared(
    load: Load, sides: tuple[Side, Side], pairs: int, calls: int, seed: int, on_block: Callable[[str], None]
) -> dict[str, Json]:
    random = Random(f"{seed}/{load.name}")  # noqa: S311 - the same for the same seed
    filled = Saturation(SLOTS * len(load.capacity)), Saturation(SLOTS * len(load.capacity))
    played: list[tuple[list[Sample], list[Sample]]] = []
    for side in sides:
        await side.block(planned(load, -1, calls, seed=seed), load.capacity, Saturation(SLOTS))  # to get warm
    for block in range(pairs):
        plans = planned(load, block, calls, seed=seed)
        samples: dict[int, list[Sample]] = {}
        for at in random.sample((0, 1), 2):
            samples[at] = await _quietly(sides[at].block(plans, load.capacity, filled[at]))
            on_block(load.name)
        played.append((samples[0], samples[1]))
    return {"load": load.name, "agents": len(load.agents), **_figures(load, played), "saturation": filled[1].to_json()}


async def _quietly(block: Coroutine[None, None, list[Sample]]) -> list[Sample]:
    """Without a collector in this process."""
    gc.collect()
    gc.disable()
    try:
        return await block
    finally:
        gc.enable()


def _figures(load: Load, played: Sequence[tuple[list[Sample], list[Sample]]]) -> dict[str, Json]:
    kinds = dict.fromkeys(kind for _, own in load.agents for kind in own)
    return {
        "all": compared(_pairs(played, lambda sample: sample.took_ms)),
        "kinds": {kind.value: _of_kind(played, kind) for kind in kinds},
    }


def _of_kind(played: Sequence[tuple[list[Sample], list[Sample]]], kind: Kind) -> dict[str, Json]:
    whole = compared(_pairs(played, lambda sample: sample.took_ms if sample.kind is kind else None))
    beside = _pairs(played, lambda sample: sample.beside_ms if sample.kind is kind else None)
    return {**whole, "beside_tool": compared(beside) if beside[0].off.size else None}


def _pairs(played: Sequence[tuple[list[Sample], list[Sample]]], figure: Callable[[Sample], float | None]) -> list[Pair]:
    def times(samples: list[Sample]) -> Times:
        return np.array([found for sample in samples if (found := figure(sample)) is not None])

    return [Pair(times(off), times(on)) for off, on in played]
