"""The paper's figures 10, 13 and 15 to 18 as they come out here, what was published beside them."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from paste_proxy.errors import InputFault
from paste_proxy.sim.comparison import BASE, OURS
from paste_proxy.sim.pacing import PUBLISHED, TOOL_SIDE, Paced
from paste_proxy.sim.systems import SYSTEMS

_NAMES = [system.name for system in SYSTEMS]
_COLOURS = dict(zip(_NAMES, ("#888888", "#c49a00", "#9467bd", "#e07b39", "#3b7dd8", "#5aa9a3", "#b3123d"), strict=True))
_WIDE = 0.8
"""Share of a group's place that its bars take."""


def canvas() -> Any:
    """What a figure is made with: matplotlib's own class.

    Raises:
        InputFault: it is not installed.
    """
    try:
        return import_module("matplotlib.figure").Figure
    except ImportError as fault:
        raise InputFault("matplotlib", "not installed", "pip install 'paste-proxy[bench]'") from fault


def draw(found: Sequence[Paced], folder: Path, form: str, figure_of: Any) -> list[Path]:
    """One file a figure.

    Args:
        form: svg or png.
        figure_of: a `canvas`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    published: Any = PUBLISHED
    drawings = {
        "figure-10-e2e": _e2e,
        "figure-13-tool-throughput": _throughput,
        "figure-15-breakdown": _breakdown,
        "figure-16-scaling": _scaling,
        "figure-17-ablation": _ablation,
        "figure-18-prediction": _prediction,
    }
    paths = []
    for name, drawing in drawings.items():
        figure = figure_of(figsize=(4.5 * len(found), 4.2), layout="constrained")
        all_axes = figure.subplots(1, len(found), squeeze=False)[0]
        for axes, one in zip(all_axes, found, strict=True):
            axes.set_title(f"{one.name}, {one.most.scenario.engine.name} engine", fontsize=10)
            drawing(axes, one, published)
        paths.append(folder / f"{name}.{form}")
        figure.savefig(paths[-1], metadata={"Date": None} if form == "svg" else None)
    return paths


def _e2e(axes: Any, one: Paced, published: Any) -> None:
    figures = one.most.figures
    axes.bar(_NAMES, [figures[name].mean_s for name in _NAMES], color=[_COLOURS[name] for name in _NAMES])
    axes.plot(_NAMES, [figures[name].p99_s for name in _NAMES], "k_", markersize=14, label="p99")
    for cut, style in zip(published["e2e"]["cut_mean"], ("--", ":"), strict=True):
        axes.axhline(
            (1 - cut) * figures[BASE].mean_s, color="k", linestyle=style, label=f"published: {cut:.1%} less than vLLM"
        )
    axes.set_ylabel(f"a session of {one.most.scenario.sessions}, mean, s")
    _named(axes)


def _throughput(axes: Any, one: Paced, published: Any) -> None:
    for name in TOOL_SIDE:
        at = one.answered(name)
        axes.plot(at, range(1, len(at) + 1), color=_COLOURS[name], label=name)
    axes.set(xlabel="s, bursty arrivals", ylabel="calls answered")
    axes.legend(fontsize=8)


def _breakdown(axes: Any, one: Paced, published: Any) -> None:
    reports: Any = [one.most.figures[name].report() for name in _NAMES]
    below = [0.0] * len(_NAMES)
    for key, label, colour in (
        ("exposed_tool_s", "tools waited for", "#e07b39"),
        ("llm_s", "LLM", "#3b7dd8"),
        ("llm_queue_s", "LLM queue", "#9ec5f0"),
    ):
        values = [report[key] for report in reports]
        axes.bar(_NAMES, values, bottom=below, label=label, color=colour)
        below = [low + value for low, value in zip(below, values, strict=True)]
    beside = published["breakdown"]
    axes.set_ylabel("s of a session")
    axes.set_xlabel(
        f"published, s: tools {beside['tools_s']} of {_span(beside['tools_beside_s'])}, "
        f"LLM {beside['llm_s']} of {_span(beside['llm_beside_s'])}",
        fontsize=8,
    )
    _named(axes)


def _scaling(axes: Any, one: Paced, published: Any) -> None:
    loads = [load.scenario.sessions for load in one.sweep]
    for beside in (BASE, "agentix"):
        axes.plot(loads, one.speedups(beside), "o-", color=_COLOURS[beside], label=f"paste over {beside}")
        least = published["scaling"][beside]["least"]
        axes.axhline(least, color=_COLOURS[beside], linestyle="--", label=f"published, at least {least:.2f}x")
    axes.set(xlabel="sessions", ylabel="times as fast", ylim=(0.9, None))
    axes.legend(fontsize=8)


def _ablation(axes: Any, one: Paced, published: Any) -> None:
    names, seconds = ("tool_only", "llm_only", OURS), published["ablation"]
    _pairs(
        axes,
        names,
        [one.most.figures[name].mean_s / one.most.figures[OURS].mean_s for name in names],
        [seconds[name] / seconds[OURS] for name in names],
    )
    axes.set_ylabel("times as long as paste")


def _prediction(axes: Any, one: Paced, published: Any) -> None:
    shown: Any = one.report()["prediction"]
    names = ("top1", "top3", "hit_rate")
    _pairs(axes, names, [shown[name] for name in names], [published["prediction"][name] for name in names])
    axes.set(ylabel="share of the calls", ylim=(0, 1))


def _pairs(axes: Any, names: Sequence[str], here: Sequence[float], published: Sequence[float]) -> None:
    places, width = range(len(names)), _WIDE / 2
    axes.bar([at - width / 2 for at in places], here, width, label="here", color=_COLOURS[OURS])
    axes.bar([at + width / 2 for at in places], published, width, label="published, at most", color="#bbbbbb")
    axes.set_xticks(list(places), names)
    axes.legend(fontsize=8)


def _named(axes: Any) -> None:
    axes.margins(y=0.35)  # room for the legend
    axes.tick_params(axis="x", rotation=35)
    axes.legend(fontsize=8)


def _span(ends: Sequence[float]) -> str:
    return "-".join(map(str, ends))
