"""What `paste-proxy mine` says of the pool that it wrote."""

from collections import Counter
from pathlib import Path

import typer

from paste_proxy.cli.counted import counted
from paste_proxy.mining.held_out import HeldOut
from paste_proxy.mining.notation import text_of
from paste_proxy.mining.pool import Origin, Pool
from paste_proxy.mining.replay import HORIZON
from paste_proxy.mining.trial import Trial

_NOTHING = (
    "A pattern has to hold in several tasks of one half to be tried on the other: bring more sessions, some tens "
    "of tasks of one kind of work."
)
_FEW = 20
"""Tasks; below them one more or less moves the odds by several points."""


def tell(pool: Pool, held_out: HeldOut, written: list[Trial], out: Path, *, any_tool: bool = False) -> None:
    """Print what it holds, what it was mined from, and how it did on held-out tasks.

    Args:
        written: the patterns by people that were to be validated too.
        out: the pool's file.
        any_tool: whether it was to hold no pattern.
    """
    _summary(pool, out, any_tool=any_tool)
    _validation(held_out, pool.origin)
    _kept(written, pool)


def _summary(pool: Pool, out: Path, *, any_tool: bool) -> None:
    origin = pool.origin
    sources = f"{counted(origin.sessions, 'session')} of {counted(origin.groups, 'task')}"
    holds = (
        "what holds for any tool, and no pattern on purpose," if any_tool else counted(len(pool.patterns), "pattern")
    )
    typer.echo(f"{out}: {holds} from {sources}")
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
        f"{HORIZON} turns, {expected:.0%} were expected to. Every candidate counts here, however unlikely: "
        "`paste-proxy bench predict` says what share of the calls was foreseen"
    )
    if origin.groups < _FEW:
        typer.echo(f"odds from so few tasks, {origin.groups}, are rough: {_FEW} or more make them steadier")


def _kept(written: list[Trial], pool: Pool) -> None:
    """Which of the patterns that people wrote are in the pool, and what became of each."""
    if not written:
        return
    held = {text_of(pattern.template) for pattern in pool.patterns}
    kept = [text_of(one.pattern.template) in held for one in written]
    why = "" if all(kept) else "; dropped are those that these sessions do not bear out"
    typer.echo(f"written patterns: {sum(kept)} of {len(written)} kept{why}")
    for one, is_kept in zip(written, kept, strict=True):
        typer.echo(f"  {'kept' if is_kept else 'dropped':<7}  {one.pattern.id}: {_became(one)}")


def _became(one: Trial) -> str:
    if not one.bound:
        return "never bound: check its sources"
    where = f", in {counted(len(one.groups), 'task')}" if one.groups else ""
    return f"bound {counted(one.bound, 'time')}, right {counted(one.right, 'time')} within {HORIZON} turns{where}"
