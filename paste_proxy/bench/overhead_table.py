"""The figures of an overhead measurement as a table."""

from rich.table import Table

from paste_proxy.events.values import Json

_COLUMNS = {
    "p50 ms": "p50_ms",
    "p99 ms": "p99_ms",
    "added p50": "added_p50_ms",
    "added p99": "added_p99_ms",
    "first byte added p50": "added_first_byte_p50_ms",
    "req/s": "rps",
    "chunk p50 us": "chunk_delay_p50_us",
    "chunk p99 us": "chunk_delay_p99_us",
    "CPU ms/req": "cpu_ms_per_request",
    "probe max ms": "probe_max_ms",
}


def table(result: dict[str, Json]) -> Table:
    """One row a path and case."""
    drawn = Table(title="Straight to a scripted LLM, and through the sidecar", title_justify="left")
    for heading in ("case", "path", "body kB", *_COLUMNS):
        drawn.add_column(heading, justify="left" if heading in ("case", "path") else "right")
    cases = result["cases"]
    assert isinstance(cases, list)
    for row in cases:
        assert isinstance(row, dict)
        first = row["path"] == "direct"
        figures = [_shown(row.get(key)) for key in _COLUMNS.values()]
        drawn.add_row(str(row["case"]) if first else "", str(row["path"]), str(row["body_kb"]), *figures)
    return drawn


def _shown(value: Json) -> str:
    return "" if value is None else f"{value:g}" if isinstance(value, int | float) else str(value)
