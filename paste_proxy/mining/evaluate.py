"""How good predictions are, on recorded sessions that the pool has not seen.

A call is judged by the last prediction made before the LLM turn that asked for it began. Calls of one
parallel turn share that prediction; what one of them took from it is struck from the list for the next.
Speculation is counted as an ideal executor would do it: every candidate of a read tool at or above the
confidence floor is launched unless it is already waiting, and waits `HORIZON` turns for its call.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from paste_proxy.events.candidate import Candidate
from paste_proxy.events.cored import Core, as_asked, cored
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.types import Event, ToolCall, ToolOutput
from paste_proxy.events.values import Json
from paste_proxy.mining.groups import Recorded
from paste_proxy.mining.infer import derivable
from paste_proxy.mining.moments import Moment, Turn, moments_of, turns_of
from paste_proxy.mining.prediction import Prediction
from paste_proxy.mining.replay import HORIZON
from paste_proxy.mining.window import Window

_BINS = 10


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
        return {"calls": self.calls, "top1": share(self.first, self.calls), "top3": share(self.three, self.calls)}


@dataclass(slots=True)
class Evaluation:
    """Running sums over sessions; `report` gives the measurement."""

    is_read: Callable[[str], bool] = lambda tool: True
    """Whether a tool only reads, so that it may be speculated on."""
    core: Core = as_asked
    """What is compared, seen by the predictor and predicted; `strict` goes by what was asked."""
    floor: float = 0.15
    """Confidence from which a candidate is launched."""
    every: Rate = field(default_factory=Rate)
    read_only: Rate = field(default_factory=Rate)
    strict: Rate = field(default_factory=Rate)
    first_time: Rate = field(default_factory=Rate)
    by_tool: dict[str, Rate] = field(default_factory=lambda: defaultdict(Rate))
    sums: Counter[str] = field(default_factory=Counter)
    seconds: list[tuple[float, bool]] = field(default_factory=list)
    """Recorded seconds of each read call, and whether it was a hit."""
    bins: list[tuple[int, float, int]] = field(default_factory=lambda: [(0, 0.0, 0)] * _BINS)
    """Candidates by confidence: their number, sum of confidences, and how many came true."""

    def add(self, session: Recorded, predict: Callable[[Event], Prediction]) -> None:
        """Follow one session; `predict` is the `step` of a fresh predictor."""
        _Follow(self, session).run(predict)

    def report(self) -> dict[str, Json]:
        """The measurement, with the keys that `paste-proxy evaluate --json` promises."""
        calls, hits, speculated = self.every.calls, self.sums["hits"], self.sums["speculated"]
        timed = sum(seconds for seconds, _ in self.seconds)
        return {
            **self.every.report(),
            "speculated": speculated,
            "hits": hits,
            "hit_rate": share(hits, calls),
            "read_only": self.read_only.report(),
            "strict": {key: value for key, value in self.strict.report().items() if key != "calls"},
            "first_time": self.first_time.report(),
            "oracle": share(self.sums["derivable"], calls),
            "seconds_weighted": share(sum(s for s, hit in self.seconds if hit), timed) if timed else None,
            "wasted_per_hit": round((speculated - hits) / hits, 4) if hits else None,
            "ece": self.calibration_error(),
            "by_tool": {tool: rate.report() for tool, rate in sorted(self.by_tool.items())},
        }

    def calibration_error(self) -> float:
        """Expected calibration error: mean distance of confidence from outcome, by tenths of confidence."""
        total = sum(number for number, _, _ in self.bins)
        return share(sum(abs(confidence - came) for _, confidence, came in self.bins), total)

    def judge(self, call: Invocation, asked: str, left: list[Candidate], *, repeated: bool) -> None:
        """Judge one call by the candidates left to it, and strike the one it takes.

        Args:
            call: its core.
            asked: the canonical key of the call itself.
        """
        keys = [candidate.invocation.key for candidate in left]
        rank = keys.index(call.key) if call.key in keys else None
        self.strict.add(keys.index(asked) if asked in keys else None)
        self.every.add(rank)
        self.by_tool[call.tool].add(rank)
        if self.is_read(call.tool):
            self.read_only.add(rank)
        if not repeated:
            self.first_time.add(rank)
        if rank is not None:
            del left[rank]

    def outcome(self, candidate: Candidate, *, came: bool) -> None:
        """Note whether a candidate came true."""
        at = min(int(candidate.confidence * _BINS), _BINS - 1)
        number, confidence, hits = self.bins[at]
        self.bins[at] = (number + 1, confidence + candidate.confidence, hits + came)


class _Follow:
    """One session under evaluation."""

    def __init__(self, evaluation: Evaluation, session: Recorded) -> None:
        self.sums = evaluation
        self.events = [cored(event, evaluation.core) for event in session.events]
        self.turns = turns_of(self.events)
        self.seconds = _durations(self.events)
        self.as_asked = _keys(session.events, self.events)
        self.waiting: dict[str, int] = {}
        self.asked: set[str] = set()

    def run(self, predict: Callable[[Event], Prediction]) -> None:
        moments = {moment.index: moment for moment in moments_of(self.events, self.turns)}
        last_before = {moment.turn: moment.index for moment in moments.values()}
        window = Window()
        unseen = 0
        for index, event in enumerate(self.events):
            window.step(event)
            candidates = self._cores(predict(event).candidates)
            moment = moments.get(index)
            if moment is None:
                continue
            for turn in self.turns[unseen : moment.turn]:
                self._judge_turn(turn, [], None)
            self._launch(candidates, moment)
            unseen = moment.turn
            if last_before[moment.turn] == index and moment.turn < len(self.turns):
                self._judge_turn(self.turns[moment.turn], list(candidates), window)
                unseen = moment.turn + 1
        for turn in self.turns[unseen:]:
            self._judge_turn(turn, [], None)

    def _cores(self, candidates: Iterable[Candidate]) -> list[Candidate]:
        """The candidates as they would be run, those that come to the same only once."""
        found: dict[str, Candidate] = {}
        for candidate in candidates:
            core = self.sums.core(candidate.invocation)
            found.setdefault(core.key, replace(candidate, invocation=core))
        return list(found.values())

    def _launch(self, candidates: Iterable[Candidate], moment: Moment) -> None:
        coming = {call.key for turn in self.turns[moment.turn : moment.turn + HORIZON] for call in turn.calls}
        self.waiting = {key: turn for key, turn in self.waiting.items() if moment.turn - turn < HORIZON}
        for candidate in candidates:
            key = candidate.invocation.key
            self.sums.outcome(candidate, came=key in coming)
            readable = self.sums.is_read(candidate.invocation.tool)
            if readable and candidate.confidence >= self.sums.floor and key not in self.waiting:
                self.waiting[key] = moment.turn
                self.sums.sums["speculated"] += 1

    def _judge_turn(self, turn: Turn, left: list[Candidate], window: Window | None) -> None:
        for call in turn.calls:
            hit = self.waiting.pop(call.key, None) is not None
            self.sums.judge(call, self.as_asked[id(call)], left, repeated=call.key in self.asked)
            self.sums.sums["hits"] += hit
            if window is not None:
                self.sums.sums["derivable"] += derivable(call, window)
            if self.sums.is_read(call.tool) and (seconds := self.seconds.get(id(call))) is not None:
                self.sums.seconds.append((seconds, hit))
        self.asked.update(call.key for call in turn.calls)


def share(part: float, whole: float) -> float:
    """A share rounded to four places, 0 of nothing."""
    return round(part / whole, 4) if whole else 0.0


def _keys(asked: Sequence[Event], cores: Sequence[Event]) -> dict[int, str]:
    """The canonical key of what was asked, by the identity of its core's object."""
    pairs = zip(asked, cores, strict=True)
    return {
        id(core.invocation): event.invocation.key
        for event, core in pairs
        if isinstance(event, ToolCall) and isinstance(core, ToolCall)
    }


def _durations(events: Sequence[object]) -> dict[int, float]:
    """Recorded seconds by the identity of the invocation object."""
    calls: dict[str, Invocation] = {}
    seconds: dict[int, float] = {}
    for event in events:
        if isinstance(event, ToolCall):
            calls[event.call_id] = event.invocation
        elif isinstance(event, ToolOutput) and event.duration_s is not None and event.call_id in calls:
            seconds[id(calls[event.call_id])] = event.duration_s
    return seconds
