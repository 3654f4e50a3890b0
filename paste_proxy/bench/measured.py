"""What an overhead measurement gave."""

from dataclasses import dataclass, field

from paste_proxy.bench.load import Sample
from paste_proxy.bench.percentile import percentile
from paste_proxy.events.values import Json


@dataclass(slots=True)
class Measured:
    """What one path of one case gave, over all rounds."""

    samples: list[Sample] = field(default_factory=list)
    probes_ns: list[int] = field(default_factory=list)
    wall_s: float = 0.0
    cpu_s: float = 0.0
    """Of the process that was asked."""
    others_s: float = 0.0
    """CPU time that the rest of the machine used meanwhile."""

    def absorb(self, other: "Measured") -> None:
        """Add another round."""
        self.samples += other.samples
        self.probes_ns += other.probes_ns
        self.wall_s += other.wall_s
        self.cpu_s += other.cpu_s
        self.others_s += other.others_s

    @property
    def noise(self) -> float:
        """Cores that the rest of the machine used meanwhile."""
        return self.others_s / self.wall_s if self.wall_s else 0.0

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
            "noise_cores": round(self.noise, 2),
        }
        if self.probes_ns:
            probes = [probe / 1e6 for probe in self.probes_ns]
            figures["probe_p50_ms"] = round(percentile(probes, 0.5), 3)
            figures["probe_p99_ms"] = round(percentile(probes, 0.99), 3)
            figures["probe_max_ms"] = round(max(probes), 3)
        return figures
