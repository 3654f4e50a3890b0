"""What the sidecar costs: the same load straight to a scripted LLM and through the sidecar, in one run.

The sidecar captures and predicts as in use (`speculate`, every packaged policy and pool). Where there are
two cores it has the last one to itself; the load and the LLM share the first. Rounds of both paths
alternate, each going first in turn, so that drift of the machine hits both.
"""

import asyncio
import gc
import os
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

from paste_proxy.bench.cpu import cores, cpu_seconds, pin
from paste_proxy.bench.load import Sample, connect, drive
from paste_proxy.bench.percentile import percentile
from paste_proxy.bench.prompt import prompt
from paste_proxy.bench.sidecar import Setting, running_sidecar
from paste_proxy.errors import OurFault
from paste_proxy.events.values import Json
from paste_proxy.speculation.types import Mode

ROUNDS = 6
"""Rounds of each case."""
_PROBE_EVERY_S = 0.002


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A load."""

    name: str
    body_kb: int
    requests: int
    """A path, over all rounds."""
    chunks: int = 0
    """Of the streamed answer; 0: a JSON answer."""
    pause_us: int = 0
    connections: int = 1
    probed: bool = False
    """Whether `/healthz` is asked meanwhile, to see how long the event loop is held."""


CASES = (
    Case(name="stream, 30 chunks", body_kb=20, requests=360, chunks=30),
    Case(name="json", body_kb=20, requests=360),
    Case(name="stream, 30 chunks, large", body_kb=1000, requests=90, chunks=30),
    Case(name="64 streams, 5 ms a chunk", body_kb=2, requests=384, chunks=100, pause_us=5000, connections=64),
    Case(name="throughput", body_kb=2, requests=9000, connections=32),
    Case(name="10 MB bodies, loop probed", body_kb=10_000, requests=24, connections=2, probed=True),
)


@dataclass(slots=True)
class Measured:
    """What one path of one case gave, over all rounds."""

    samples: list[Sample] = field(default_factory=list)
    probes_ns: list[int] = field(default_factory=list)
    wall_s: float = 0.0
    cpu_s: float = 0.0

    def figures(self) -> dict[str, Json]:
        """Percentiles and rates."""
        totals = [sample.total_ns / 1e6 for sample in self.samples]
        firsts = [sample.first_ns / 1e6 for sample in self.samples]
        delays = [delay / 1e3 for sample in self.samples for delay in sample.delays_ns]
        figures: dict[str, Json] = {
            "p50_ms": round(percentile(totals, 0.5), 3),
            "p95_ms": round(percentile(totals, 0.95), 3),
            "p99_ms": round(percentile(totals, 0.99), 3),
            "first_byte_p50_ms": round(percentile(firsts, 0.5), 3),
            "first_byte_p99_ms": round(percentile(firsts, 0.99), 3),
            "rps": round(len(totals) / self.wall_s, 1),
            "chunk_delay_p50_us": round(percentile(delays, 0.5), 1) if delays else None,
            "chunk_delay_p99_us": round(percentile(delays, 0.99), 1) if delays else None,
            "cpu_ms_per_request": round(self.cpu_s * 1e3 / len(totals), 3),
            "requests": len(totals),
        }
        if self.probes_ns:
            probes = [probe / 1e6 for probe in self.probes_ns]
            figures["probe_p50_ms"] = round(percentile(probes, 0.5), 3)
            figures["probe_p99_ms"] = round(percentile(probes, 0.99), 3)
            figures["probe_max_ms"] = round(max(probes), 3)
        return figures


@dataclass(frozen=True, slots=True)
class Target:
    """A path to the scripted LLM."""

    path: str
    port: int
    pid: int


async def measure(*, scale: float = 1.0, on_round: Callable[[str], None] = lambda _: None) -> dict[str, Json]:
    """Every case on both paths: the object that `--json` prints.

    Args:
        scale: multiplies the number of requests.
        on_round: called with a case's name after each of its `len(CASES) * ROUNDS` rounds.
    """
    async with _targets() as targets:
        results: list[Json] = []
        for case in CASES:
            each = max(case.connections, round(case.requests * scale / ROUNDS))
            measured = {target.path: Measured() for target in targets}
            for target in targets:
                await _round(target, case, max(case.connections, 3), Measured())
            for turn in range(ROUNDS):
                for target in targets if turn % 2 else reversed(targets):
                    await _round(target, case, each, measured[target.path])
                on_round(case.name)
            results += _rows(case, measured)
    return {"cores": len(cores()) or None, "sidecar_alone_on_a_core": len(cores()) > 1, "cases": results}


async def _round(target: Target, case: Case, requests: int, into: Measured) -> None:
    build = partial(_request, prompt(case.body_kb * 1000, stream=case.chunks > 0), case)
    gc.collect()
    gc.disable()
    try:
        over = asyncio.Event()
        prober = asyncio.create_task(_probe(target.port, over, into.probes_ns)) if case.probed else None
        cpu = cpu_seconds(target.pid) or 0.0
        began = time.monotonic()
        into.samples += await drive(
            target.port, build, connections=case.connections, requests=requests, chunks=case.chunks
        )
        into.wall_s += time.monotonic() - began
        into.cpu_s += (cpu_seconds(target.pid) or 0.0) - cpu
        over.set()
        if prober is not None:
            await prober
    finally:
        gc.enable()


def _request(body: tuple[bytes, bytes], case: Case, connection: int, turn: int) -> bytes:
    """One session a connection; each request of it ends with a tool output not seen before."""
    front, back = body
    text = front + b"%08d" % turn + back
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
        f"x-paste-session: bench-{case.body_kb}-{connection}\r\nx-bench: {case.chunks},{case.pause_us}\r\n"
        f"content-length: {len(text)}\r\n\r\n"
    )
    return head.encode() + text


async def _probe(port: int, over: asyncio.Event, into: list[int]) -> None:
    """Ask for something tiny over and over; how long it takes is how long the event loop was held."""
    connection = await connect(port)
    try:
        while not over.is_set():
            sample = await connection.exchange(b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
            into.append(sample.total_ns)
            await asyncio.sleep(_PROBE_EVERY_S)
    finally:
        connection.close()


def _rows(case: Case, measured: dict[str, Measured]) -> list[Json]:
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
        rows.append(row)
    return rows


def _number(value: Json) -> float:
    assert isinstance(value, int | float)
    return value


@asynccontextmanager
async def _targets() -> AsyncIterator[tuple[Target, Target]]:
    """The scripted LLM, and a sidecar in front of it."""
    own = cores()
    origin = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "paste_proxy.bench.origin"), stdout=asyncio.subprocess.PIPE
    )
    try:
        assert origin.stdout is not None
        said = await asyncio.wait_for(origin.stdout.readline(), 20)
        if not said.strip().isdigit():
            raise OurFault("the scripted LLM did not start")
        port = int(said)
        setting = Setting(mode=Mode.SPECULATE, llm=f"http://127.0.0.1:{port}/v1", tools={}, mcp={})
        async with running_sidecar(setting) as sidecar:
            if len(own) > 1:
                pin(sidecar.pid, own[-1])
                for pid in (origin.pid, os.getpid()):
                    pin(pid, own[0])
            try:
                yield (
                    Target("direct", port, origin.pid),
                    Target("paste", int(sidecar.url.rpartition(":")[2]), sidecar.pid),
                )
            finally:
                if len(own) > 1:
                    os.sched_setaffinity(0, set(own))
    finally:
        if origin.returncode is None:
            origin.terminate()
            await origin.wait()
