"""What `paste-proxy simulate` shows to people."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paste_proxy.events.values import Json

_COLUMNS = (
    ("mean", "e2e_mean_s", "{:.1f}"),
    ("cut", "cut_mean", "{:+.1%}"),
    ("p99", "e2e_p99_s", "{:.1f}"),
    ("cut", "cut_p99", "{:+.1%}"),
    ("queue", "llm_queue_s", "{:.1f}"),
    ("llm", "llm_s", "{:.1f}"),
    ("tools", "exposed_tool_s", "{:.1f}"),
    ("hits", "hit_rate", "{:.1%}"),
    ("wasted", "wasted_tool_s", "{:.1f}"),
    ("late", "admitted_late", "{}"),
    ("outside", "outside_band", "{:.1%}"),
)


def table(report: "Mapping[str, Json]") -> str:
    """The figures, one load after another."""
    known: Any = report
    lines = [
        f"{known['workload']}: {known['stands_for']}",
        f"{known['recordings']} recordings; each turn begins with {known['thinking_tokens']:.0f} tokens of thinking "
        f"that they leave out; tools take {known['tool_share_alone']:.0%} of a session that is alone",
        f"engine {known['engine']}: fastest at {known['engine_knee']:.0f} turns, "
        f"at most {known['engine_parameters']['max_batch']} at once; sessions arrive {known['arrivals']}",
    ]
    for load in known.get("loads", [known]):
        lines += ["", f"{load['sessions']} sessions: in the LLM {load['llm_growth']:.1f} times as long as alone (fcfs)"]
        lines += _rows(load["systems"])
    return "\n".join([*lines, "", *_beside_published(known)])


def _rows(systems: Any) -> list[str]:
    rows = [["", *(title for title, _, _ in _COLUMNS)]]
    for name, figures in systems.items():
        shown = ["-" if figures[key] is None else form.format(figures[key]) for _, key, form in _COLUMNS]
        rows.append([name, *shown])
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows]


def _beside_published(known: Any) -> list[str]:
    lines = []
    if speedup := known.get("speedup"):
        published = speedup["published"]
        lines.append(
            f"speed-up over fcfs: at least {speedup['least']:.2f}x (published {published['least']:.2f}x), all loads "
            f"together {speedup['pooled']:.2f}x (published {published['pooled']:.2f}x)"
        )
    ours = known["systems"]["paste"]
    for what, short in known["short_of_published"].items():
        cut, needed = ours[f"cut_{what}"], known.get("hit_rate_needed", {}).get(what, [])
        for at, less in enumerate(short):
            line = f"{what}: {cut:.1%} less than fcfs, published {cut + less:.1%}"
            if less > 0 and at < len(needed):
                line += f"; {_needed(needed[at])}"
            lines.append(line)
    return lines


def _needed(rate: float | None) -> str:
    if rate is None:
        return "no rate of hits would reach that here"
    return f"{rate:.0%} of the calls would have to be hits"
