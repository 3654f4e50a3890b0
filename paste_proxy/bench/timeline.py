"""Draws a replay: for each task its time without and with speculation, the pair to one scale."""

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
_PERSON = _Ink(" ", "")
_NOTHING = _Ink("·", "dim")


def draw(comparison: Comparison, width: int) -> RenderableType:
    """Both timelines of every task, the key, the sums, and every latency that is stated."""
    return Group(_tasks(comparison, max(20, width - 49)), _key(), Text(), sums(comparison), Text(), _stated(comparison))


def _tasks(comparison: Comparison, cells: int) -> Table:
    table = Table.grid(padding=(0, 1))
    for column in ("task", "side", "time"):
        table.add_column(column, no_wrap=True, max_width=30, justify="right" if column == "time" else "left")
    table.add_column("bar", no_wrap=True)
    hits: dict[str, list[Hit]] = {}
    for hit in comparison.speculative.account.hits:
        hits.setdefault(hit.ask.session, []).append(hit)
    for one, other in zip(comparison.baseline.played, comparison.speculative.played, strict=True):
        scale = max(one.ended - one.began, other.ended - other.began) / cells
        table.add_row(_short(one.session), "without", f"{one.task_s:.1f} s", _bar(one, (), scale))
        table.add_row("", "with", f"{other.task_s:.1f} s", _bar(other, hits.get(other.session, ()), scale))
    return table


def _bar(task: Played, hits: Iterable[Hit], scale: float) -> Text:
    """One cell for each `scale` seconds, drawn as what its middle was spent on."""
    bar = Text()
    hidden = [(hit.run.began, min(hit.run.ended, hit.ask.asked)) for hit in hits]
    for cell in range(round((task.ended - task.began) / scale)):
        middle = task.began + (cell + 0.5) * scale
        ink = _ink(task, middle)
        if ink is not _EXPOSED and any(began <= middle < ended for began, ended in hidden):
            ink = _HIDDEN
        bar.append(ink.glyph, ink.style)
    return bar


def _ink(task: Played, moment: float) -> _Ink:
    for span in task.spans:
        if span.began <= moment < span.ended:
            return {"llm": _LLM, "tool": _EXPOSED}.get(span.what, _PERSON)
    return _NOTHING


def _key() -> Text:
    key = Text("\n")
    for ink, meaning in (
        (_LLM, "LLM"),
        (_EXPOSED, "waiting for a tool"),
        (_HIDDEN, "tool run ahead, hidden"),
        (_PERSON, "a person replies (not counted)"),
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


def _stated(comparison: Comparison) -> Text:
    low, high = PAPER_TOOL_SHARE
    tools = ", ".join(f"{kind} {value.typical_s:g} s" for kind, value in STATED.items())
    cuts = ", ".join(f"{kind} {value.longest_s:g} s" for kind, value in STATED.items())
    speeds = ", ".join(f"{kind} {speed:g} times" for kind, speed in comparison.speeds.items())
    bound = one_step_bound(task.script for task in comparison.tasks)
    return Text(
        f"Played faster than life, the same on both sides ({speeds}); all figures are in uncompressed seconds. "
        f"The sidecar's own work is not compressed, so it weighs that much more here than in life.\n"
        f"Recorded times are used where the recording has a clock. Stated, since not recorded: LLM {FIRST_TOKEN_S:g} s "
        f"to the first token, then {TOKENS_PER_S:g} tokens/s; {DISPATCH_S:g} s from an answer to its tools; tools "
        f"(+-{SPREAD:.0%} by call): {tools}. Recorded tool times are cut at: {cuts}. People take {REPLY_S:g} s to "
        f"reply, which passes and is not counted.\n"
        f"Tools take {comparison.tool_share:.0%} of the time without speculation; "
        f"the PASTE paper measured {low:.0%} to {high:.0%}. "
        f"Knowing each next read exactly one step ahead would cut {bound:.1%}.",
        style="dim",
    )


def _short(session: str) -> str:
    return session if len(session) <= 30 else "…" + session[-29:]
