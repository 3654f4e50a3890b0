"""The figures of an overhead measurement as a table."""

from rich.table import Table
from rich.text import Text

from paste_proxy.events.values import Json

_COLUMNS = {
    "p50": "p50_ms",
    "+p50": "added_p50_ms",
    "p99": "p99_ms",
    "req/s": "rps",
    "chunk": "chunk_delay_p99_us",
    "CPU": "cpu_ms_per_request",
    "lag": "loop_lag_below_ms",
    "noise": "noise_cores",
}


def table(result: dict[str, Json]) -> Table:
    """One row a path and load; milliseconds, but `chunk` (99th percentile of a chunk's delay) in microseconds.

    `lag` is what no timer of the sidecar exceeded, `noise` the cores that the rest of the machine used meanwhile.
    """
    title = "Straight to a scripted LLM, and through the sidecar (ms; chunk p99 in us)"
    drawn = Table(title=title, title_justify="left", box=None, pad_edge=False)
    drawn.add_column("load, path", no_wrap=True, min_width=24)
    for heading in _COLUMNS:
        drawn.add_column(heading, justify="right", no_wrap=True)
    cases = result["cases"]
    assert isinstance(cases, list)
    for row in cases:
        assert isinstance(row, dict)
        if row["path"] == "direct":
            drawn.add_row(Text(str(row["case"]), "bold", no_wrap=True))
        drawn.add_row(f"  {row['path']}", *(_shown(row.get(key)) for key in _COLUMNS.values()))
    return drawn


def _shown(value: Json) -> str:
    if not isinstance(value, int | float):
        return ""
    return f"{value:.{0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2}f}"
