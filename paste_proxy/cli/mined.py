"""What `paste-proxy mine` says of the pool that it wrote."""

from collections import Counter
from pathlib import Path

import typer

from paste_proxy.cli.counted import counted
from paste_proxy.mining.held_out import HeldOut
from paste_proxy.mining.notation import text_of
from paste_proxy.mining.pattern import Pattern
from paste_proxy.mining.pool import Origin, Pool
from paste_proxy.mining.replay import HORIZON

_NOTHING = (
    "A pattern has to hold in several tasks of one half to be tried on the other: bring more sessions, some tens "
    "of tasks of one kind of work."
)


def tell(pool: Pool, held_out: HeldOut, written: list[Pattern], out: Path) -> None:
    """Print what it holds, what it was mined from, and how it did on held-out tasks.

    Args:
        written: the patterns by people that were to be validated too.
        out: the pool's file.
    """
    _summary(pool, out)
    _validation(held_out, pool.origin)
    _kept(written, pool)


def _summary(pool: Pool, out: Path) -> None:
    origin = pool.origin
    sources = f"{counted(origin.sessions, 'session')} of {counted(origin.groups, 'task')}"
    typer.echo(f"{out}: {counted(len(pool.patterns), 'pattern')} from {sources}")
    if origin.sampled_from:
        typer.echo(
            f"they are a sample of {counted(origin.sampled_from, 'session')}, of whole tasks, with "
            f"{counted(origin.calls, 'call')}: --calls says how many may be learned from"
        )
    for tool, count in Counter(pattern.template.tool for pattern in pool.patterns).most_common():
        typer.echo(f"  {count:4} {tool}")


def _validation(held_out: HeldOut, origin: Origin) -> None:
    if not held_out.candidates:
        typer.echo(
            f"on held-out tasks: nothing was predicted, so nothing says that this pool is of use. {_NOTHING} "
            f"These were {counted(origin.sessions, 'session')} of {counted(origin.groups, 'task')}."
        )
        return
    came, expected = held_out.came / held_out.candidates, held_out.expected / held_out.candidates
    typer.echo(
        f"on held-out tasks: {counted(held_out.candidates, 'call')} predicted, {came:.0%} of them came within "
        f"{HORIZON} turns, {expected:.0%} were expected to"
    )


def _kept(written: list[Pattern], pool: Pool) -> None:
    """Which of the patterns that people wrote are in the pool."""
    if not written:
        return
    kept = {text_of(pattern.template) for pattern in pool.patterns}
    dropped = [pattern.id for pattern in written if text_of(pattern.template) not in kept]
    why = f"; dropped, since these sessions do not bear them out: {', '.join(dropped)}" if dropped else ""
    typer.echo(f"written patterns: {len(written) - len(dropped)} of {len(written)} kept{why}")
