"""What a replay shows: the two sides compared, as one object."""

from collections import Counter, defaultdict
from dataclasses import dataclass

from paste_proxy.bench.bound import one_step_bound
from paste_proxy.bench.latency import (
    DISPATCH_S,
    FIRST_TOKEN_S,
    PAPER_TOOL_SHARE,
    REPLY_S,
    SPREAD,
    STATED,
    TOKENS_PER_S,
    kind_of,
)
from paste_proxy.bench.replay import Side
from paste_proxy.bench.workload import Task, Workload
from paste_proxy.events.values import Json


@dataclass(frozen=True, slots=True)
class Comparison:
    """The same tasks without and with speculation."""

    workload: str
    tasks: tuple[Task, ...]
    speeds: dict[Workload, float]
    baseline: Side
    speculative: Side

    @property
    def views_equal(self) -> bool:
        """Whether every agent saw the same bytes, and every world was left with the same writes."""
        views = all(
            one.view == other.view for one, other in zip(self.baseline.played, self.speculative.played, strict=True)
        )
        return views and _writes(self.baseline) == _writes(self.speculative)

    @property
    def cut_task(self) -> float:
        """Share of the tasks' time that is gone."""
        return _cut(self.baseline.task_s, self.speculative.task_s)

    @property
    def tool_share(self) -> float:
        """Share of the baseline's time that is waiting for tools."""
        return self.baseline.exposed_s / self.baseline.task_s if self.baseline.task_s else 0.0

    def to_json(self) -> dict[str, Json]:
        """The object that `--json` prints."""
        calls = sum(len(task.script.calls) for task in self.tasks)
        hits = len(self.speculative.account.hits)
        return {
            "workload": self.workload,
            "sessions": len(self.tasks),
            "calls": calls,
            "baseline": _times(self.baseline),
            "speculative": _times(self.speculative),
            "cut_task": round(self.cut_task, 4),
            "cut_exposed": round(_cut(self.baseline.exposed_s, self.speculative.exposed_s), 4),
            "hits": hits,
            "hit_rate": round(hits / calls, 4) if calls else 0.0,
            "wasted_s": round(self.speculative.account.wasted_s, 2),
            "wasted_calls": len(self.speculative.account.wasted),
            "views_equal": self.views_equal,
            "cut_task_mean": round(self._mean_cut(), 4),
            "one_step_bound": round(one_step_bound(task.script for task in self.tasks), 4),
            "tool_share": round(self.tool_share, 4),
            "speeds": {kind.value: speed for kind, speed in self.speeds.items()},
            "by_kind": self._by_kind(),
            "by_workload": self._by_workload(),
            "stated": stated(),
        }

    def _mean_cut(self) -> float:
        cuts = [
            _cut(one.task_s, other.task_s)
            for one, other in zip(self.baseline.played, self.speculative.played, strict=True)
        ]
        return sum(cuts) / len(cuts)

    def _by_kind(self) -> dict[str, Json]:
        calls = Counter(kind_of(call.invocation.tool) for task in self.tasks for call in task.script.calls)
        hits = Counter(kind_of(hit.run.invocation.tool) for hit in self.speculative.account.hits)
        hidden: dict[str, float] = defaultdict(float)
        for hit in self.speculative.account.hits:
            hidden[kind_of(hit.run.invocation.tool)] += hit.hidden_s
        wasted: dict[str, float] = defaultdict(float)
        for run in self.speculative.account.wasted:
            wasted[kind_of(run.invocation.tool)] += run.ended - run.began
        return {
            kind.value: {
                "calls": count,
                "hits": hits[kind],
                "hidden_s": round(hidden[kind], 2),
                "wasted_s": round(wasted[kind], 2),
            }
            for kind, count in calls.most_common()
        }

    def _by_workload(self) -> dict[str, Json]:
        sums: dict[str, list[float]] = {}
        rows = zip(self.tasks, self.baseline.played, self.speculative.played, strict=True)
        for task, one, other in rows:
            row = sums.setdefault(task.workload, [0, 0.0, 0.0, 0.0, 0.0])
            added = (1, one.task_s, other.task_s, one.time_in("tool"), other.time_in("tool"))
            sums[task.workload] = [old + new for old, new in zip(row, added, strict=True)]
        return {
            str(name): {
                "sessions": round(sessions),
                "cut_task": round(_cut(task_0, task_1), 4),
                "cut_exposed": round(_cut(tool_0, tool_1), 4),
                "one_step_bound": round(one_step_bound(t.script for t in self.tasks if t.workload == name), 4),
                "tool_share": round(tool_0 / task_0, 4) if task_0 else 0.0,
            }
            for name, (sessions, task_0, task_1, tool_0, tool_1) in sums.items()
        }


def stated() -> dict[str, Json]:
    """Every latency that is not recorded."""
    return {
        "llm": {"first_token_s": FIRST_TOKEN_S, "tokens_per_s": TOKENS_PER_S},
        "dispatch_s": DISPATCH_S,
        "person_reply_s": REPLY_S,
        "tools_s": {kind.value: value.typical_s for kind, value in STATED.items()},
        "recorded_tools_cut_at_s": {kind.value: value.longest_s for kind, value in STATED.items()},
        "tools_spread": SPREAD,
        "tool_share_in_paper": list(PAPER_TOOL_SHARE),
    }


def _times(side: Side) -> dict[str, Json]:
    return {"task_s": round(side.task_s, 2), "exposed_tool_s": round(side.exposed_s, 2)}


def _cut(before: float, after: float) -> float:
    return 1 - after / before if before else 0.0


def _writes(side: Side) -> dict[str, list[str]]:
    """Writes of each world; sorted, since tasks that share a world may interleave."""
    return {name: sorted(keys) for name, keys in side.written.items()}
