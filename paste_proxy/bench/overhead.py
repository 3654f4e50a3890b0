"""What the sidecar costs: the same load straight to a scripted LLM and through the sidecar, in one run.

The sidecar captures and predicts as in use (`speculate`, every packaged policy and pool). Where there are
two cores it has the last one to itself; the load and the LLM share the first. Rounds of both paths
alternate, each going first in turn, so that drift of the machine hits both. CPU is that of the process
that is asked: the scripted LLM on the direct path, the sidecar alone on the other.
"""

import gc
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from itertools import count
from math import inf

from paste_proxy.bench.cases import CASES, Case
from paste_proxy.bench.cpu import apart, cores, cpu_seconds, machine_seconds
from paste_proxy.bench.lag import LoopLag
from paste_proxy.bench.load import drive
from paste_proxy.bench.measured import Measured
from paste_proxy.bench.origin_process import running_origin
from paste_proxy.bench.probe import probing
from paste_proxy.bench.prompt import Conversations
from paste_proxy.bench.sidecar import Setting, running_sidecar
from paste_proxy.events.values import Json
from paste_proxy.speculation.types import Mode

ROUNDS = 6
"""Rounds of each case."""
_QUIET_CORES = 0.2
"""What the rest of the machine may use of it during a round that counts at once."""
_RETRIES = 1


@dataclass(frozen=True, slots=True)
class Target:
    """A path to the scripted LLM."""

    path: str
    port: int
    pid: int


class Bench:
    """The scripted LLM and a sidecar in front of it, both running."""

    def __init__(self, direct: Target, through: Target) -> None:
        self._targets = (direct, through)
        self._rounds = count()

    async def case(self, case: Case, each: int, on_round: Callable[[str], None]) -> list[Json]:
        """One load on both paths, in alternating rounds of `each` requests."""
        measured = {target.path: Measured() for target in self._targets}
        lag = LoopLag(self._targets[-1].port)
        for target in self._targets:
            await self._round(target, case, max(case.connections, 3))
        await lag.start()
        for turn in range(ROUNDS):
            for target in self._targets if turn % 2 else reversed(self._targets):
                measured[target.path].absorb(await self._quiet_round(target, case, each))
            on_round(case.name)
        return _rows(case, measured, *await lag.read())

    async def _quiet_round(self, target: Target, case: Case, requests: int) -> Measured:
        """A round during which nothing else used the machine much: the quieter of two."""
        best = await self._round(target, case, requests)
        for _ in range(_RETRIES):
            if best.noise <= _QUIET_CORES:
                break
            best = min(best, await self._round(target, case, requests), key=lambda measured: measured.noise)
        return best

    async def _round(self, target: Target, case: Case, requests: int) -> Measured:
        measured = Measured()
        talk = Conversations(case.body_kb * 1000, case.chunks, f"bench-{next(self._rounds)}")
        gc.collect()
        gc.disable()
        try:
            async with probing(self._targets[-1].port, measured.probes_ns) if case.probed else nullcontext():
                before = self._cpu(target)
                began = time.monotonic()
                measured.samples = await drive(
                    target.port,
                    lambda connection: _request(case, *talk.next(connection)),
                    connections=case.connections,
                    requests=requests,
                    chunks=case.chunks,
                    gap_s=case.gap_s,
                )
                measured.wall_s = time.monotonic() - began
                after = self._cpu(target)
        finally:
            gc.enable()
        measured.cpu_s, measured.others_s = (now - then for now, then in zip(after, before, strict=True))
        return measured

    def _cpu(self, target: Target) -> tuple[float, float]:
        """CPU seconds so far: of the target, and of all that has no part in the measurement."""
        all_of_ours = cpu_seconds(os.getpid()) or 0.0
        return cpu_seconds(target.pid) or 0.0, (machine_seconds() or 0.0) - all_of_ours


async def measure(*, scale: float = 1.0, on_round: Callable[[str], None] = lambda _: None) -> dict[str, Json]:
    """Every case on both paths: the object that `--json` prints.

    Args:
        scale: multiplies the number of requests.
        on_round: called with a case's name after each of its `len(CASES) * ROUNDS` rounds.
    """
    async with _targets() as targets:
        bench = Bench(*targets)
        results: list[Json] = []
        for case in CASES:
            each = max(case.connections, round(case.requests * scale / ROUNDS))
            results += await bench.case(case, each, on_round)
    return {"cores": len(cores()) or None, "sidecar_alone_on_a_core": len(cores()) > 1, "cases": results}


def _request(case: Case, session: str, body: bytes) -> bytes:
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
        f"x-paste-session: {session}\r\nx-bench: {case.chunks},{case.pause_us}\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def _rows(case: Case, measured: dict[str, Measured], lag_samples: int, lag_s: float | None) -> list[Json]:
    direct, through = measured["direct"].figures(), measured["paste"].figures()
    rows: list[Json] = []
    for path, figures in (("direct", direct), ("paste", through)):
        row: dict[str, Json] = {
            "path": path,
            "case": case.name,
            "body_kb": case.body_kb,
            "stream": case.chunks > 0,
            "concurrency": case.connections,
            **figures,
        }
        for key in ("p50", "p99", "first_byte_p50", "first_byte_p99"):
            row[f"added_{key}_ms"] = round(_number(figures[f"{key}_ms"]) - _number(direct[f"{key}_ms"]), 3)
        if path == "paste":
            row["loop_lag_samples"] = lag_samples
            row["loop_lag_below_ms"] = None if lag_s is None or lag_s == inf else lag_s * 1e3
        rows.append(row)
    return rows


def _number(value: Json) -> float:
    assert isinstance(value, int | float)
    return value


@asynccontextmanager
async def _targets() -> AsyncIterator[tuple[Target, Target]]:
    """The scripted LLM, and a sidecar in front of it."""
    async with running_origin() as origin:
        setting = Setting(mode=Mode.SPECULATE, llm=f"http://127.0.0.1:{origin.port}/v1", tools={}, mcp={})
        async with running_sidecar(setting) as sidecar:
            with apart(sidecar.pid, origin.pid, os.getpid()):
                yield (
                    Target("direct", origin.port, origin.pid),
                    Target("paste", int(sidecar.url.rpartition(":")[2]), sidecar.pid),
                )
