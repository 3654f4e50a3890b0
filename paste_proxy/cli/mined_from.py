"""A word where a pool, or what mining started from, is judged by sessions that it was learned from."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from paste_proxy.cli.counted import counted

if TYPE_CHECKING:
    from paste_proxy.importers.neutral import RecordedSession
    from paste_proxy.mining.pool import Pool


def tell_mined_from(pool: "Pool", sessions: "Sequence[RecordedSession]") -> int | None:
    """Of how many of the sessions the pool was mined from the task, told on stderr; None where it does not say."""
    if not pool.origin.ids:
        return None
    return tell_known("the pool was mined from", sessions, pool.origin.ids, pool.origin.tasks, "evaluate others")


def tell_known(
    what: str, sessions: "Sequence[RecordedSession]", ids: Sequence[str], tasks: Sequence[str], mend: str
) -> int:
    """Say on stderr how many of the sessions to judge are known, or repeat tasks that are; returns it.

    Args:
        ids, tasks: digests of what is known, see `provenance`.
    """
    from paste_proxy.mining.provenance import known

    same, others = known(sessions, ids, tasks)
    if same + others:
        these = _these(same, len(sessions)) if same else ""
        repeated = f"the tasks of {counted(others, 'session')} under other names" if others else ""
        both = " and ".join(filter(None, [these, repeated]))
        typer.echo(f"paste-proxy: {what} {both}: the figures flatter it; {mend}", err=True)
    return same + others


def _these(same: int, every: int) -> str:
    return f"{same} of {counted(every, 'session')}" if same < every else "all of these sessions"
