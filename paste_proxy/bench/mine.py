"""What it takes to mine a very large recording: time and memory of a `paste-proxy mine` of its own."""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from paste_proxy.bench.recording import write_recording
from paste_proxy.errors import OurFault
from paste_proxy.events.values import Json
from paste_proxy.mining.pool import Pool
from paste_proxy.mining.storage import load_pool

_PER_MB = 2**20 if sys.platform == "darwin" else 2**10
"""Of what the system counts memory in."""


def measure(
    events: int,
    processes: int,
    *,
    on_events: Callable[[int], None] = lambda _: None,
    on_mining: Callable[[], None] = lambda: None,
) -> dict[str, Json]:
    """Make a recording of at least so many events and mine it.

    `on_events` is told of each number of events that has been written, `on_mining` when all are.

    Raises:
        OurFault: the mining failed.
    """
    with TemporaryDirectory(prefix="paste-bench-") as folder:
        trace, out = Path(folder) / "recording.jsonl.gz", Path(folder) / "pool.json"
        written = write_recording(trace, events, on_events)
        on_mining()
        cost = _run(["mine", str(trace), "-o", str(out), "--processes", str(processes)], Path(folder) / "said")
        pool = load_pool(out.read_text("utf-8"), str(out))
    return {"events": written, "processes": processes, **_told(pool), **cost.report()}


@dataclass(frozen=True, slots=True)
class _Cost:
    seconds: float
    max_rss: int

    def report(self) -> dict[str, Json]:
        return {"seconds": round(self.seconds, 1), "max_rss_mb": round(self.max_rss / _PER_MB)}


def _told(pool: Pool) -> dict[str, Json]:
    origin = pool.origin
    return {
        "sessions": origin.sampled_from or origin.sessions,
        "learned_from": origin.sessions,
        "calls_learned_from": origin.calls,
        "patterns": len(pool.patterns),
    }


def _run(arguments: Sequence[str], said: Path) -> _Cost:
    """Run a command of ours; its memory is that of the largest of its processes."""
    begun = perf_counter()
    with said.open("wb") as output:
        command = [sys.executable, "-m", "paste_proxy", *arguments]
        process = subprocess.Popen(command, stdout=output, stderr=output)  # noqa: S603 - our own interpreter and options
    try:
        _, status, usage = os.wait4(process.pid, 0)
    except BaseException:
        process.kill()
        process.wait()
        raise
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise OurFault(f"the mining failed ({process.returncode}): {said.read_text('utf-8', 'replace')[-500:]}")
    return _Cost(perf_counter() - begun, usage.ru_maxrss)
