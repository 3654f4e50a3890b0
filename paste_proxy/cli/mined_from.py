"""A word where a pool is judged by the sessions that it was mined from."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from paste_proxy.cli.counted import counted

if TYPE_CHECKING:
    from paste_proxy.importers.neutral import RecordedSession
    from paste_proxy.mining.pool import Pool


def tell_mined_from(pool: "Pool", sessions: "Sequence[RecordedSession]") -> int | None:
    """How many of the sessions the pool was mined from, told on stderr; None where it does not say."""
    from paste_proxy.mining.provenance import known

    if not pool.origin.ids:
        return None
    seen = known((session.id for session in sessions), pool.origin.ids)
    if seen:
        these = f"{seen} of {counted(len(sessions), 'session')}" if seen < len(sessions) else "all of these sessions"
        typer.echo(f"paste-proxy: the pool was mined from {these}: the figures flatter it; evaluate others", err=True)
    return seen
