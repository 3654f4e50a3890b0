"""How good predictions are, on recorded sessions that the pool has not seen.

Calls are judged as `verdicts` says. Speculation is counted as an ideal executor would do it: every candidate that
may be run ahead, at or above the confidence floor, is launched unless it is already waiting, and waits `HORIZON`
turns for its call. That a write in between may void a result is not counted here.
"""

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from paste_proxy.events.candidate import Candidate
from paste_proxy.events.cored import Core, as_asked
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.values import Json
from paste_proxy.mining.forecast.adaptation import Adaptation
from paste_proxy.mining.groups import Recorded
from paste_proxy.mining.pool import Pool
from paste_proxy.mining.predict import Predictor
from paste_proxy.mining.prediction import Barred
from paste_proxy.mining.reliability import Reliability
from paste_proxy.mining.verdicts import Offer, Predict, Verdict, follow


@dataclass(slots=True)
class Rate:
    """Calls and how many of them were the first, or among the first three, candidates."""

    calls: int = 0
    first: int = 0
    three: int = 0

    def add(self, rank: int | None) -> None:
        """Note a call by the rank of its candidate, from 0; None if there was none."""
        self.calls += 1
        self.first += rank == 0
        self.three += rank is not None and rank < 3

    def report(self) -> dict[str, Json]:
        """Calls, top1 and top3 as shares."""
        return {"calls": self.calls, **self.shares()}

    def shares(self) -> dict[str, Json]:
        """Top1 and top3."""
        return {"top1": share(self.first, self.calls), "top3": share(self.three, self.calls)}


@dataclass(slots=True)
class Evaluation:
    """Running sums over sessions; `report` gives the measurement."""

    is_read: Callable[[Invocation], bool] = lambda call: True
    """Whether a call may be speculated on."""
    some_read: Callable[[str], bool] = lambda tool: True
    """Whether some call of a tool may be."""
    is_reading_command: Callable[[Invocation], bool] = lambda call: False
    """Whether a call may not be, and yet only reads."""
    core: Core = as_asked
    """What is compared, seen by the predictor and predicted; `strict` goes by what was asked."""
    floor: float = 0.0
    """Confidence from which a candidate is launched."""
    every: Rate = field(default_factory=Rate)
    read_only: Rate = field(default_factory=Rate)
    read_commands: Rate = field(default_factory=Rate)
    strict: Rate = field(default_factory=Rate)
    first_time: Rate = field(default_factory=Rate)
    repeated: Rate = field(default_factory=Rate)
    by_tool: dict[str, Rate] = field(default_factory=lambda: defaultdict(Rate))
    sums: Counter[str] = field(default_factory=Counter)
    """`speculated`, `hits` and `derivable` of all calls; `read_hits`, `read_offered` and `read_derivable` of reads."""
    tool_s: float = 0.0
    """Recorded seconds of reads."""
    hidden_s: float = 0.0
    """Those of hits."""
    reliability: Reliability = field(default_factory=Reliability)

    def add(self, session: Recorded, predict: Predict, ahead: Predict | None = None) -> None:
        """Follow one session.

        Args:
            predict: the `step` of a fresh predictor.
            ahead: that of one which predicts only what may be run ahead, as the sidecar's do; `read_only` and all that
                is said of running goes by it. None: `predict` does.
        """
        for one in follow(session, predict, ahead, self.core, self._runs):
            match one:
                case Offer():
                    self.reliability.add(one.candidate.confidence, came=one.came)
                    self.sums["speculated"] += one.launched
                case Verdict():
                    self._judge(one)

    def ahead(self, pool: Pool, adaptation: Adaptation | None = None) -> Predictor:
        """A fresh predictor of what may be speculated on."""
        barred = Barred(call=lambda call: not self.is_read(call))
        return Predictor(pool, executable=self.some_read, barred=barred, adaptation=adaptation)

    def report(self) -> dict[str, Json]:
        """The measurement, with the keys that `paste-proxy evaluate --json` promises."""
        calls, hits, speculated = self.every.calls, self.sums["hits"], self.sums["speculated"]
        return {
            **self.every.report(),
            "floor": self.floor,
            "speculated": speculated,
            "hits": hits,
            "hit_rate": share(hits, calls),
            "hit_rate_of_oracle": self._of_oracle("read_hits"),
            "read_only": self.read_only.report(),
            "read_commands": self.read_commands.report(),
            "strict": self.strict.shares(),
            "first_time": self.first_time.report(),
            "repeated": self.repeated.report(),
            "oracle": share(self.sums["derivable"], calls),
            "budget": self._budget(),
            "seconds_weighted": share(self.hidden_s, self.tool_s) if self.tool_s else None,
            "wasted_per_hit": round((speculated - hits) / hits, 4) if hits else None,
            "ece": self.reliability.error(),
            "reliability": self.reliability.table(),
            "by_tool": {tool: rate.report() for tool, rate in sorted(self.by_tool.items())},
        }

    def _budget(self) -> dict[str, Json]:
        """Of the reads: what would hit if every candidate were run, whatever its confidence."""
        calls = self.read_only.calls
        return {
            "calls": calls,
            "hit_rate": share(self.sums["read_offered"], calls),
            "oracle": share(self.sums["read_derivable"], calls),
            "hit_rate_of_oracle": self._of_oracle("read_offered"),
        }

    def _of_oracle(self, hits: str) -> float | None:
        derivable = self.sums["read_derivable"]
        return share(self.sums[hits], derivable) if derivable else None

    def _runs(self, candidate: Candidate) -> bool:
        return candidate.confidence >= self.floor and self.is_read(candidate.invocation)

    def _judge(self, one: Verdict) -> None:
        self.every.add(one.rank)
        self.strict.add(one.strict)
        self.by_tool[one.call.tool].add(one.rank)
        (self.repeated if one.repeated else self.first_time).add(one.rank)
        self.sums["hits"] += one.hit
        self.sums["derivable"] += one.derivable
        if self.is_reading_command(one.call):
            self.read_commands.add(one.rank)
        if self.is_read(one.call):
            self._judge_read(one)

    def _judge_read(self, one: Verdict) -> None:
        self.read_only.add(one.ahead)
        self.sums["read_hits"] += one.hit
        self.sums["read_offered"] += one.offered
        self.sums["read_derivable"] += one.derivable
        if one.seconds is not None:
            self.tool_s += one.seconds
            self.hidden_s += one.seconds if one.hit else 0.0


def share(part: float, whole: float) -> float:
    """A share rounded to four places, 0 of nothing."""
    return round(part / whole, 4) if whole else 0.0
