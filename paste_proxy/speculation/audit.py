"""What an event log says of running ahead: every job by tool, source, rule and end, and what was refused."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from statistics import median

from paste_proxy.events.types import Event, Outcome, Refusals, Speculation, Why
from paste_proxy.events.values import Json
from paste_proxy.speculation.staged_runs import StagedRuns

_COMMITTED = (Outcome.REUSED, Outcome.PROMOTED)
_SIDE_EFFECTING = ("policy", "approval")
_TIMES = 10_000


@dataclass(slots=True)
class Sums:
    """Of some jobs; times in seconds."""

    jobs: int = 0
    hits: int = 0
    ran_s: float = 0.0
    saved_s: float = 0.0
    wasted_s: float = 0.0
    """Of jobs that came to nothing."""
    cost: float = 0.0
    bytes: int = 0
    cpu_s: float = 0.0

    def add(self, job: Speculation) -> None:
        """One more job."""
        hit = job.outcome in _COMMITTED or job.why is Why.REHEARSED
        self.jobs += 1
        self.hits += hit
        self.ran_s += job.ran_s
        self.saved_s += job.saved_s
        self.wasted_s += 0.0 if hit else job.ran_s
        self.cost += job.cost or 0.0
        self.bytes += job.bytes or 0
        self.cpu_s += job.cpu_s or 0.0

    def as_json(self) -> dict[str, Json]:
        """By name, what is measured to the millisecond."""
        return {
            "jobs": self.jobs,
            "hits": self.hits,
            "ran_s": round(self.ran_s, 3),
            "saved_s": round(self.saved_s, 3),
            "wasted_s": round(self.wasted_s, 3),
            "cost": round(self.cost, 6),
            "bytes": self.bytes,
            "cpu_s": round(self.cpu_s, 3),
        }


_BY: dict[str, Callable[[Speculation], str]] = {
    "tool": lambda job: job.invocation.tool,
    "source": lambda job: job.source,
    "rule": lambda job: job.rule or "",
    "outcome": lambda job: job.outcome.value,
    "why": lambda job: job.why.value if job.why else "",
}


@dataclass(slots=True)
class Jobs:
    """Jobs in all and apart."""

    all: Sums = field(default_factory=Sums)
    by: dict[str, dict[str, Sums]] = field(default_factory=lambda: {name: {} for name in _BY})

    def add(self, job: Speculation) -> None:
        """One more job."""
        self.all.add(job)
        for name, key in _BY.items():
            if value := key(job):
                self.by[name].setdefault(value, Sums()).add(job)

    def as_json(self) -> dict[str, Json]:
        """In all, and `by_tool` and so on, those with most jobs first."""
        apart: dict[str, Json] = {}
        for name, rows in self.by.items():
            ordered = sorted(rows.items(), key=lambda row: -row[1].jobs)
            apart[f"by_{name}"] = {value: sums.as_json() for value, sums in ordered}
        return {**self.all.as_json(), **apart}


@dataclass(slots=True, kw_only=True)
class Audit:
    """Adds up events; those of other times, sessions and tools are passed over."""

    since: float = float("-inf")
    """In seconds since 1970."""
    session: str | None = None
    tool: str = "*"
    """A glob; `*` crosses a slash here."""
    ran: Jobs = field(default_factory=Jobs)
    would_have: Jobs = field(default_factory=Jobs)
    """Jobs of mode `observe`, which did not run."""
    rehearsed: Jobs = field(default_factory=Jobs)
    """Calls in a changed form, run to get ready; hits are those whose call came."""
    again: int = 0
    """Answers that served again; nothing ran for them."""
    refused: Counter[str] = field(default_factory=Counter)
    """By reason."""
    refused_tools: Counter[str] = field(default_factory=Counter)
    refused_rules: Counter[str] = field(default_factory=Counter)
    side_effecting: int = 0
    """Refused candidates that may have changed something, which no rule lets run ahead."""
    staged: int = 0
    staged_runs: StagedRuns = field(default_factory=StagedRuns)
    committed: int = 0
    _commits_s: list[float] = field(default_factory=list)

    def add(self, event: Event) -> bool:
        """Take an event; whether it counts."""
        match event:
            case Speculation() if self._wanted(event, event.invocation.tool):
                self._job(event)
            case Refusals() if self._wanted(event, event.tool):
                self.refused[event.reason] += event.count
                self.refused_tools[event.tool] += event.count
                if event.rule:
                    self.refused_rules[event.rule] += event.count
                self.side_effecting += event.count if event.writes and event.reason in _SIDE_EFFECTING else 0
            case _:
                return False
        return True

    def _wanted(self, event: Speculation | Refusals, tool: str) -> bool:
        if self.session not in (None, event.session) or not fnmatchcase(tool, self.tool):
            return False
        return event.ts is None or event.ts >= self.since

    def _job(self, job: Speculation) -> None:
        if job.again:
            self.again += 1
            return
        jobs = self.rehearsed if job.rehearsal else self.ran
        (self.would_have if job.shadow else jobs).add(job)
        self.staged += job.staged
        self.staged_runs.add(job)
        if job.commit_s is not None and job.outcome in _COMMITTED:
            self.committed += 1
            if len(self._commits_s) < _TIMES:
                self._commits_s.append(job.commit_s)

    def as_json(self) -> dict[str, Json]:
        """Everything, as one object."""
        return {
            "ran": self.ran.as_json(),
            "would_have": self.would_have.as_json(),
            "rehearsed": self.rehearsed.as_json(),
            "again": self.again,
            "staged": {
                "jobs": self.staged,
                **self.staged_runs.as_json(),
                "committed": self.committed,
                "commit_ms_p50": round(median(self._commits_s) * 1000, 2) if self._commits_s else None,
            },
            "refused": {
                "count": self.refused.total(),
                "side_effecting": self.side_effecting,
                "by_reason": dict(self.refused.most_common()),
                "by_tool": dict(self.refused_tools.most_common()),
                "by_rule": dict(self.refused_rules.most_common()),
            },
        }
