"""Random programs, run as usual in one tree and staged and committed in another: nobody can tell which is which."""

import asyncio
import random
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from paste_proxy.staging import normal
from paste_proxy.staging.copying import clear
from paste_proxy.staging.stages import Stages
from paste_proxy.staging.types import Ran, Refused, Tier
from tests.staging.programs import program, python_in
from tests.staging.trees import plant, told
from tests.staging.workplace import BOUNDS, begun, opened, staged, until

_LINKED_ONE_IN = 7
"""Of so many trees, one has files with several names."""


async def compared(stages: Stages, tmp_path: Path, seed: int) -> str:
    """Whether a program was committed, or why not. Either way all is as it has to be."""
    usual, ahead = tmp_path / "usual", tmp_path / "ahead"
    for tree in (usual, ahead):
        plant(tree, seed, linked=seed % _LINKED_ONE_IN == 0)
    # where a user has no rights, to give a file to somebody fails in another way within a user namespace
    argv, before = program(seed, python_in(tmp_path), owners=stages.tier is Tier.ROOT), told(ahead)
    try:
        expected = await normal.run(staged(usual, *argv), output_bytes=BOUNDS.output_bytes)
        ran, why = await _ahead(stages, ahead, argv)
        if ran is None:
            assert told(ahead) == before, f"seed {seed}: refused ({why}), but not undone"
            return why
        assert (ran.exit_code, ran.output) == (expected.exit_code, expected.output), f"seed {seed}"
        assert told(ahead) == told(usual), f"seed {seed}"
        return "committed"
    finally:
        for tree in (usual, ahead):
            await asyncio.to_thread(clear, str(tree))


async def _ahead(stages: Stages, tree: Path, argv: tuple[str, ...]) -> tuple[Ran | None, str]:
    asked = staged(tree, *argv)
    try:
        stage = await stages.stage(asked)
    except Refused as why:
        return None, str(why)
    return await stages.commit(stage, asked), stage.reason


@pytest.mark.parametrize("first", range(0, 40, 10))
async def test_a_committed_program_and_one_run_as_usual_leave_the_same_and_say_the_same(
    tmp_path: Path, first: int
) -> None:
    async with opened(tmp_path) as stages:
        came = [await compared(stages, tmp_path, seed) for seed in range(first, first + 10)]
    assert came.count("committed") >= 6, came


@pytest.mark.slow
@pytest.mark.timeout(1800)
async def test_many_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seeds, came = range(10_000, 10_300), Counter[str]()
    async with opened(tmp_path) as stages:
        for seed in seeds:
            why = await compared(stages, tmp_path, seed)
            came[why.replace(str(tmp_path), "")] += 1
    with capsys.disabled():
        print(f"\n{len(seeds)} programs: {came['committed']} committed, the others refused:")
        for why, count in came.most_common():
            print(f"{count:6} {why[:150]!r}")
    assert came["committed"] > 0.75 * len(seeds)


async def test_whatever_somebody_else_changes_meanwhile_is_kept(tmp_path: Path) -> None:
    async with opened(tmp_path) as stages:
        for seed in range(500, 510):
            chance, tree = random.Random(seed), tmp_path / f"tree-{seed}"
            plant(tree, seed)
            mark = f"begun-{seed}"
            asked = staged(tree, "/bin/sh", "-c", f'echo >{mark}; exec "$@"', "sh", *program(seed, python_in(tmp_path)))
            run = asyncio.create_task(stages.stage(asked))
            await until(lambda: run.done() or begun(tmp_path, mark))  # noqa: B023  done with in this round
            for _ in range(chance.randrange(2000)):
                await asyncio.sleep(0)
            (tree / chance.choice(("", "one", "one/two")) / "theirs").write_text("theirs")
            after = told(tree)
            with suppress(Refused):
                assert await stages.commit(await run, asked) is None, f"seed {seed}"
            assert told(tree) == after, f"seed {seed}"
