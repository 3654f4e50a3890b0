"""The loads of an overhead measurement."""

from dataclasses import dataclass


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
    gap_s: float = 0.0
    """Pause of a connection between an answer and its next request; 0 is full load."""
    probed: bool = False
    """Whether the sidecar's `/healthz` is asked meanwhile, to see how long its event loop is held; on the direct path
    that is an idle sidecar's."""


CASES = (
    Case(name="20 kB, 30 chunks at once", body_kb=20, requests=480, chunks=30, gap_s=0.005),
    Case(name="20 kB, 2 ms a chunk", body_kb=20, requests=120, chunks=30, pause_us=2000, gap_s=0.005),
    Case(name="20 kB, JSON", body_kb=20, requests=480, gap_s=0.005),
    Case(name="1 MB, 30 chunks at once", body_kb=1000, requests=120, chunks=30, gap_s=0.02),
    Case(name="64 streams, 5 ms a chunk", body_kb=2, requests=384, chunks=100, pause_us=5000, connections=64),
    Case(name="2 kB, JSON, 32 at once", body_kb=2, requests=9000, connections=32),
    Case(name="10 MB, loop probed", body_kb=10_000, requests=60, connections=2, probed=True),
)
