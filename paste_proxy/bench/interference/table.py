"""The figures of an interference measurement as a table."""

from collections.abc import Iterator, Mapping
from typing import cast

from rich.table import Table
from rich.text import Text

from paste_proxy.events.values import Json

_Figures = Mapping[str, Json]


def table(result: _Figures) -> Table:
    """One row a kind of call: milliseconds without and with guesses, and how many times as long the slowest hundredth
    takes at least with them, with its 95 % interval."""
    loads = cast("list[_Figures]", result["loads"])
    drawn = Table(title="Calls without guesses, and full of wrong ones (ms)", title_justify="left", box=None)
    drawn.caption, drawn.caption_justify = "\n".join(map(_filled, loads)), "left"
    drawn.add_column("", no_wrap=True)
    for heading in ("p50", "full", "p99", "full", "times", "95 %"):
        drawn.add_column(heading, justify="right", no_wrap=True)
    for load in loads:
        drawn.add_row(Text(str(load["load"]), "bold", no_wrap=True))
        for name, figures in _rows(load):
            drawn.add_row(f"  {name}", *_cells(figures))
    return drawn


def _filled(load: _Figures) -> str:
    filled = cast("_Figures", load["saturation"])
    return (
        f"{load['load']}: {filled['used']:.0%} of {filled['slots']} slots used, {filled['launched']} guesses, "
        f"{filled['preempted']} preempted, {filled['without_room']} without room"
    )


def _rows(load: _Figures) -> Iterator[tuple[str, _Figures]]:
    yield "all", cast("_Figures", load["all"])
    for kind, figures in cast("Mapping[str, _Figures]", load["kinds"]).items():
        yield kind, figures
        if figures["beside_tool"] is not None:
            yield "  but for its own time", cast("_Figures", figures["beside_tool"])


def _cells(figures: _Figures) -> Iterator[str]:
    off, on = (cast("Mapping[str, float]", figures[key]) for key in ("off_ms", "on_ms"))
    for share in ("p50", "p99"):
        yield from (f"{off[share]:.1f}", f"{on[share]:.1f}")
    slowest = cast("Mapping[str, Mapping[str, float]]", figures["ratio"])["p99"]
    yield from (f"{slowest['ratio']:.3f}", f"{slowest['low']:.2f}-{slowest['high']:.2f}")
