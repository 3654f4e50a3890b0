"""What it costs to run a command ahead and commit it, beside the same command run as usual.

A workspace is made of small files. In every round each command is run both ways, now the one first and now the other,
and its effects really happen both times. What counts is what stands between an agent and its answer beside the command
itself: a view is made and read (`set_up`), the workspace is proven unchanged (`proof`), the effects are put in place
(`commit`). `added` is all that it takes longer than as usual, the tracer's share of the command included. `clean_up`
keeps nobody waiting.
"""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from paste_proxy.bench.percentile import percentile
from paste_proxy.clock import SystemClock
from paste_proxy.errors import OurFault
from paste_proxy.events.values import Json
from paste_proxy.staging import normal
from paste_proxy.staging.copying import clear
from paste_proxy.staging.gone import gone_in
from paste_proxy.staging.stages import Bounds, Stages
from paste_proxy.staging.tally import Step
from paste_proxy.staging.types import Refused, Staged, Tier

COMMANDS = {
    "trivial": "true",
    "edits": "for i in 0 1 2; do echo more >>d$i/f0; done; rm d3/f0; echo new >new; mv new d3/f0; echo edited",
}
"""For a shell, by name. Each can be run again and again."""
FIGURES = ("set_up", "proof", "commit", "sum", "command", "normal", "added", "clean_up")
_FILES_OF_A_FOLDER = 25
_FEWEST_FOLDERS = 4
"""That commands find."""
_CONTENT = "a line of a file, as there are some in a workspace\n" * 10
_OUTPUT_BYTES = 2**20
_TIMEOUT_S = 120.0
_LOOK_S = 0.002
_PLACE = "/var/tmp"  # noqa: S108  a folder of our own there: on a disk, where a temporary one may be in memory


@dataclass(frozen=True, slots=True)
class Round:
    """One command in one round, in milliseconds."""

    set_up: float
    proof: float
    commit: float
    command: float
    """As it took in its view."""
    normal: float
    """As it took as usual."""
    added: float
    clean_up: float

    @property
    def sum(self) -> float:
        """What a staged command costs beside itself."""
        return self.set_up + self.proof + self.commit


def report_of(rounds: Sequence[Round]) -> dict[str, Json]:
    """Median and 95th percentile of each figure, in milliseconds."""
    report: dict[str, Json] = {}
    for name in FIGURES:
        values = [getattr(each, name) for each in rounds]
        report[f"{name}_ms"] = {"p50": round(percentile(values, 0.50), 2), "p95": round(percentile(values, 0.95), 2)}
    return report


def plant(workspace: Path, files: int) -> int:
    """Make at least so many files, in folders `d0`, `d1`...; the number made."""
    folders = max(_FEWEST_FOLDERS, -(-files // _FILES_OF_A_FOLDER))
    for folder in (workspace / f"d{number}" for number in range(folders)):
        folder.mkdir(parents=True)
        for number in range(_FILES_OF_A_FOLDER):
            (folder / f"f{number}").write_text(_CONTENT)
    return folders * _FILES_OF_A_FOLDER


async def measure(files: int, rounds: int, on_round: Callable[[], None] = lambda: None) -> dict[str, Json]:
    """Times of all commands, by name, and how long stages take to close with as many files to be taken away.

    Raises:
        OurFault: commands cannot be staged here, or one was not committed.
    """
    folder = await asyncio.to_thread(_folder)
    try:
        made = await asyncio.to_thread(plant, folder / "workspace", files)
        async with _stages(folder / "stages") as stages:
            bench = _Bench(stages, folder / "workspace")
            cases: dict[str, list[Round]] = {name: [] for name in COMMANDS}
            for number in range(rounds):
                for name, command in COMMANDS.items():
                    cases[name].append(await bench.round(command, normal_first=number % 2 == 0))
                on_round()
            tier = stages.tier.value
            close_s = await bench.close(made)
    finally:
        await asyncio.to_thread(clear, str(folder))
    reports: dict[str, Json] = {name: report_of(each) for name, each in cases.items()}
    return {"files": made, "rounds": rounds, "tier": tier, "cases": reports, "close_ms": round(close_s * 1000, 1)}


def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="paste-bench-", dir=_PLACE)).resolve()


class _Bench:
    def __init__(self, stages: Stages, workspace: Path) -> None:
        self._stages, self._workspace = stages, workspace

    async def round(self, command: str, *, normal_first: bool) -> Round:
        asked = self._asked(command)
        usual = await self._as_usual(asked) if normal_first else 0.0
        began = perf_counter()
        command_s = await self._ahead(asked)
        ended = perf_counter()
        clean_up = await self._swept()
        usual = usual or await self._as_usual(asked)
        steps = {step: times[-1] * 1000 for step, times in self._stages.tally.took_s.items()}
        return Round(
            set_up=steps[Step.SET_UP],
            proof=steps[Step.PROOF],
            commit=steps[Step.COMMIT],
            command=command_s * 1000,
            normal=usual,
            added=(ended - began) * 1000 - usual,
            clean_up=clean_up,
        )

    async def close(self, files: int) -> float:
        """Seconds until stages are closed after a command that made so many files and was discarded."""
        making = f"mkdir many; i=0; while [ $i -lt {files} ]; do echo $i >many/$i; i=$((i+1)); done"
        try:
            self._stages.discard(await self._stages.stage(self._asked(making)), "not wanted")
        except Refused as why:
            raise OurFault(f"a command that makes {files} files was not staged: {why}") from why
        began = perf_counter()
        await self._stages.close()
        return perf_counter() - began

    def _asked(self, command: str) -> Staged:
        return Staged(
            argv=("/bin/sh", "-c", command),
            workspace=str(self._workspace),
            cwd=str(self._workspace),
            env=(("PATH", os.defpath),),
            umask=normal.OWN_UMASK,
            timeout_s=_TIMEOUT_S,
        )

    async def _as_usual(self, asked: Staged) -> float:
        began = perf_counter()
        await normal.run(asked, output_bytes=_OUTPUT_BYTES)
        return (perf_counter() - began) * 1000

    async def _ahead(self, asked: Staged) -> float:
        """Seconds that the command itself took."""
        try:
            stage = await self._stages.stage(asked)
        except Refused as why:
            raise OurFault(f"{asked.argv[-1]!r} was not staged: {why}") from why
        ran = await self._stages.commit(stage, asked)
        if ran is None:
            raise OurFault(f"{asked.argv[-1]!r} was not committed: {stage.reason}")
        return ran.ran_s

    async def _swept(self) -> float:
        """Milliseconds until nothing is left of what is over."""
        began = perf_counter()
        while await asyncio.to_thread(_has_leavings, self._stages.base):  # noqa: ASYNC110  another process takes them
            await asyncio.sleep(_LOOK_S)
        return (perf_counter() - began) * 1000


def _has_leavings(base: Path) -> bool:
    return gone_in(base).exists() or any(base.glob("process-*/stage-*"))


@asynccontextmanager
async def _stages(base: Path) -> AsyncIterator[Stages]:
    stages = Stages(base, SystemClock(), outside=(), bounds=Bounds())
    await stages.open()
    try:
        if stages.tier is Tier.NONE:
            raise OurFault(f"commands cannot be staged here: {stages.reason}")
        yield stages
    finally:
        await stages.close()
