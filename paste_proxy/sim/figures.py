"""What a system gave, from the sessions that it served."""

from collections.abc import Sequence
from dataclasses import dataclass

from paste_proxy.bench.percentile import percentile
from paste_proxy.events.values import Json
from paste_proxy.sim.world import Played, Sample, World

_WARM_UP = 0.2
"""Of a run, the first share, in which a band is still looked for."""


@dataclass(frozen=True, slots=True)
class Figures:
    """One system under one load; played several times over where few sessions make up the load."""

    worlds: Sequence[World]

    @property
    def e2e_s(self) -> list[float]:
        """Of all sessions, ascending."""
        return sorted(one.e2e_s for one in self._played)

    @property
    def mean_s(self) -> float:
        """Of a session, from its arrival to its end."""
        return _mean(self.e2e_s)

    @property
    def p99_s(self) -> float:
        """99 of 100 sessions take no longer."""
        return percentile(self.e2e_s, 0.99)

    @property
    def llm_s(self) -> float:
        """Of a session, from the moments its turns are ready to the ends of their answers."""
        return _mean([one.queue_s + one.llm_s for one in self._played])

    @property
    def tool_share(self) -> float:
        """Of a session's time, the share in which it waits for tools."""
        return _mean([one.exposed_s for one in self._played]) / self.mean_s if self.mean_s else 0.0

    def report(self) -> dict[str, Json]:
        """Seconds are means over sessions, and calls are those of all of them."""
        played, ordered = self._played, self.e2e_s
        calls = sum(one.tooling.asked for one in played)
        hits, early = (sum(getattr(one.tooling, name) for one in played) for name in ("hits", "early"))
        outside = self._outside()
        return {
            "e2e_mean_s": round(self.mean_s, 3),
            **{f"e2e_p{at}_s": round(percentile(ordered, at / 100), 3) for at in (50, 95, 99)},
            "exposed_tool_s": _rounded([one.exposed_s for one in played]),
            "llm_queue_s": _rounded([one.queue_s for one in played]),
            "llm_s": _rounded([one.llm_s for one in played]),
            "tool_calls": calls,
            "hit_rate": round(hits / calls, 4) if calls else 0.0,
            "served_as_written": round(early / calls, 4) if calls else 0.0,
            "saved_tool_s": _rounded([one.tooling.saved_s for one in played]),
            "wasted_tool_s": _rounded([one.tooling.wasted_s for one in played]),
            "admitted_late": sum(one.late for one in played),
            "outside_band": None if outside is None else round(outside, 4),
            "engine_preempted": sum(world.engine.preempted for world in self.worlds),
        }

    @property
    def _played(self) -> list[Played]:
        return [one for world in self.worlds for one in world.played]

    def _outside(self) -> float | None:
        """Of the time after the warm-up, the share in which the engine had more than P_high, or less than P_low while
        turns waited; None: there is no band."""
        looked = outside = 0
        for world in self.worlds:
            begins = _WARM_UP * world.now
            for sample in world.samples:
                if sample.band is not None and sample.at >= begins:
                    looked += 1
                    outside += _is_outside(sample)
        return outside / looked if looked else None


def _is_outside(sample: Sample) -> bool:
    assert sample.band is not None
    low, pressure, high = sample.band
    return pressure > high * (1 + 1e-9) or (pressure < low * (1 - _SHARE) and sample.held > 0)


_SHARE = 0.05
"""Of the band: the next turn, for which there is no room, may be so large."""


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _rounded(values: Sequence[float]) -> float:
    return round(_mean(values), 3)
