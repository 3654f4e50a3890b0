"""The figures of an interference measurement as a table."""

from collections.abc import Iterator, Mapping
from typing import cast

from rich.table import Table
from rich.text import Text

from paste_proxy.events.values import Json

_SHARES = ("p50", "p95", "p99")
_Figures = Mapping[str, Json]


def table(result: _Figures) -> Table:
    """One row a kind of call: milliseconds without and with guesses, how many times as long with them, and the interval
    of that at p99."""
    title = "Calls through a sidecar that is off, and through one full of wrong guesses (ms)"
    drawn = Table(title=title, title_justify="left", box=None, pad_edge=False)
    drawn.add_column("calls", no_wrap=True, min_width=24)
    for share in _SHARES:
        for heading in (share, "full", "times"):
            drawn.add_column(heading, justify="right", no_wrap=True)
    drawn.add_column("95 %", justify="right", no_wrap=True)
    for load in cast("list[_Figures]", result["loads"]):
        drawn.add_row(Text(f"{load['load']}: {_filled(load)}", "bold", no_wrap=True))
        for name, figures in _rows(load):
            drawn.add_row(f"  {name}", *_cells(figures))
    return drawn


def _filled(load: _Figures) -> str:
    filled = cast("_Figures", load["saturation"])
    return (
        f"{filled['used']:.0%} of {filled['slots']} slots used, {filled['launched']} guesses, "
        f"{filled['preempted']} preempted, {filled['without_room']} without room"
    )


def _rows(load: _Figures) -> Iterator[tuple[str, _Figures]]:
    yield "all", cast("_Figures", load["all"])
    for kind, figures in cast("Mapping[str, _Figures]", load["kinds"]).items():
        yield kind, figures
        if figures["beside_tool"] is not None:
            yield f"{kind}, less its own", cast("_Figures", figures["beside_tool"])


def _cells(figures: _Figures) -> Iterator[str]:
    off, on, ratios = (cast("Mapping[str, float]", figures[key]) for key in ("off_ms", "on_ms", "ratio"))
    by_share = cast("Mapping[str, Mapping[str, float]]", ratios)
    for share in _SHARES:
        yield from (f"{off[share]:.1f}", f"{on[share]:.1f}", f"{by_share[share]['ratio']:.3f}")
    yield f"{by_share['p99']['low']:.2f}-{by_share['p99']['high']:.2f}"
