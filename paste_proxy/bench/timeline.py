"""Draws a replay: for each task its time without and with speculation, the pair to one scale.

The time that people take to reply is left out, as it is from every sum.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from paste_proxy.bench.account import Hit
from paste_proxy.bench.agent import Played
from paste_proxy.bench.bound import one_step_bound
from paste_proxy.bench.latency import DISPATCH_S, FIRST_TOKEN_S, PAPER_TOOL_SHARE, REPLY_S, SPREAD, STATED, TOKENS_PER_S
from paste_proxy.bench.report import Comparison


@dataclass(frozen=True, slots=True)
class _Ink:
    glyph: str
    style: str


_LLM = _Ink("─", "cyan")
_HIDDEN = _Ink("▒", "green")
_EXPOSED = _Ink("█", "red")
_NOTHING = _Ink("·", "dim")
_NAME_CELLS = 30
_LEAST_CELLS = 20


def draw(comparison: Comparison, width: int) -> RenderableType:
    """Both timelines of every task, the key, the sums, and every latency that is stated."""
    return Group(_tasks(comparison, width), _key(), Text(), sums(comparison), Text(), _stated(comparison))


def _tasks(comparison: Comparison, width: int) -> Table:
    """A pair of bars for each task to one scale, the longer one as long as the width allows."""
    played = [*comparison.baseline.played, *comparison.speculative.played]
    taken = len("without") + max(len(_seconds(one.task_s)) for one in played) + 3
    name_cells = max(1, min(_NAME_CELLS, max(len(one.session) for one in played), width - taken - _LEAST_CELLS))
    cells = max(_LEAST_CELLS, width - taken - name_cells)
    table = Table.grid(padding=(0, 1))
    table.add_column("task", no_wrap=True, width=name_cells)
    table.add_column("side", no_wrap=True)
    table.add_column("time", no_wrap=True, justify="right")
    table.add_column("bar", no_wrap=True, width=cells)
    hits: dict[str, list[Hit]] = {}
    for hit in comparison.speculative.account.hits:
        hits.setdefault(hit.ask.session, []).append(hit)
    for one, other in zip(comparison.baseline.played, comparison.speculative.played, strict=True):
        scale = max(one.task_s, other.task_s) / cells
        name = one.session if len(one.session) <= name_cells else "…" + one.session[len(one.session) - name_cells + 1 :]
        table.add_row(name, "without", _seconds(one.task_s), _bar(one, (), scale))
        table.add_row("", "with", _seconds(other.task_s), _bar(other, hits.get(other.session, ()), scale))
    return table


def _bar(task: Played, hits: Iterable[Hit], scale: float) -> Text:
    """One cell for each `scale` seconds of the task, drawn as what its middle was spent on."""
    bar = Text()
    hidden = [(hit.run.began, min(hit.run.ended, hit.ask.asked)) for hit in hits]
    for cell in range(round(task.task_s / scale) if scale else 0):
        middle = _moment(task, (cell + 0.5) * scale)
        ink = _ink(task, middle)
        if ink is not _EXPOSED and any(began <= middle < ended for began, ended in hidden):
            ink = _HIDDEN
        bar.append(ink.glyph, ink.style)
    return bar


def _moment(task: Played, counted: float) -> float:
    """When a task had taken so long, without the time that people took to reply."""
    moment = task.began + counted
    for span in task.spans:
        if span.what == "person" and span.began <= moment:
            moment += span.ended - span.began
    return moment


def _ink(task: Played, moment: float) -> _Ink:
    for span in task.spans:
        if span.began <= moment < span.ended:
            return {"llm": _LLM, "tool": _EXPOSED}.get(span.what, _NOTHING)
    return _NOTHING


def _key() -> Text:
    key = Text("\n")
    for ink, meaning in (
        (_LLM, "LLM"),
        (_EXPOSED, "waiting for a tool"),
        (_HIDDEN, "tool run ahead, hidden"),
    ):
        key.append(f"{ink.glyph * 2} ", ink.style).append(f"{meaning}   ")
    return key


def sums(comparison: Comparison) -> Table:
    """What all tasks took, without and with speculation."""
    table = Table(box=None, pad_edge=False)
    for column in ("", "without", "with", "cut"):
        table.add_column(column, justify="right" if column else "left")
    before, after = comparison.baseline, comparison.speculative
    for name, one, other in (
        ("time of all tasks", before.task_s, after.task_s),
        ("exposed tool time", before.exposed_s, after.exposed_s),
    ):
        table.add_row(name, f"{one:.1f} s", f"{other:.1f} s", f"{1 - other / one:.1%}" if one else "-")
    calls = sum(len(task.asks) for task in after.played)
    hits = len(after.account.hits)
    table.add_row("calls answered from a run ahead", "", f"{hits} of {calls}", f"{hits / max(calls, 1):.1%}")
    table.add_row("tool time run for nothing", "", f"{after.account.wasted_s:.1f} s", "")
    table.add_row("what the agents saw", "", "equal" if comparison.views_equal else "DIFFERENT", "")
    return table


def _stated(comparison: Comparison) -> Table:
    """What the figures rest on, a line or two for each."""
    low, high = PAPER_TOOL_SHARE
    tools = ", ".join(f"{kind} {value.typical_s:g} s" for kind, value in STATED.items())
    cuts = ", ".join(f"{kind} {value.longest_s:g} s" for kind, value in STATED.items())
    speeds = ", ".join(f"{kind} {speed:g} times" for kind, speed in comparison.speeds.items())
    bound = one_step_bound(task.script for task in comparison.tasks)
    table = Table.grid(padding=(0, 2))
    table.add_column("what", no_wrap=True, style="dim")
    table.add_column("how", style="dim")
    for what, how in (
        ("pace", f"faster than life, the same on both sides ({speeds}); figures are in uncompressed seconds"),
        ("sidecar", "its own work is not compressed, so it weighs that much more here than in life"),
        ("LLM", f"stated: {FIRST_TOKEN_S:g} s to the first token, then {TOKENS_PER_S:g} tokens/s"),
        ("agent", f"stated: {DISPATCH_S:g} s from an answer to its tools; people reply in {REPLY_S:g} s, left out"),
        ("tools", f"recorded where the recording has a clock, cut at: {cuts}"),
        ("", f"else stated, +-{SPREAD:.0%} by call: {tools}"),
        ("tool share", f"{comparison.tool_share:.0%} of the time without; the PASTE paper has {low:.0%} to {high:.0%}"),
        ("bound", f"knowing each next read exactly one step ahead would cut {bound:.1%}"),
    ):
        table.add_row(what, how)
    return table


def _seconds(value: float) -> str:
    return f"{value:.1f} s"
