"""What `doctor` says of the budgets of a config and its policies: what is bounded, and how much of this day is used."""

from collections.abc import Iterator

from paste_proxy.clock import Clock, SystemClock, day_of
from paste_proxy.config import Config
from paste_proxy.proxy.budget_file import budget_path
from paste_proxy.proxy.budget_format import read_kept
from paste_proxy.proxy.finding import Finding, Level
from paste_proxy.proxy.memory_file import REFUSED
from paste_proxy.speculation.budgets.budgets import BudgetLimits, Budgets, Span, Use
from paste_proxy.speculation.policy import Policy
from paste_proxy.speculation.types import Mode


def check_budgets(config: Config, policy: Policy, clock: Clock | None = None) -> Iterator[Finding]:
    """Reads the file; changes nothing."""
    if config.speculation.mode is not Mode.SPECULATE:
        return
    clock = clock or SystemClock()
    budgets = Budgets(BudgetLimits(**dict(config.budget)), {rule.place: rule.allotment for rule in policy.rules})
    path, level, kept, mend = budget_path(config), Level.OK, "", ""
    if path is None:
        kept = "; a restart begins anew: there is no folder to keep it in"
        mend = "name a `learning.directory`, or a `recording.directory`, to have it kept"
    else:
        try:
            budgets.book.begin(read_kept(path).record)
        except FileNotFoundError:
            pass
        except (OSError, ValueError) as fault:
            level, kept = Level.WARN, f"; {path}: {fault}"
            mend = f"serve puts it aside as {path.name}{REFUSED} and begins anew"
    budgets.book.turn(day_of(clock.epoch()), clock.monotonic())
    uses = [use for use in budgets.uses(clock.monotonic()) if use.span is Span.DAY]
    for full in (use for use in uses if use.used >= use.limit):
        found = f"{_shown(full)}: used up, nothing more is run ahead under it today"
        yield Finding(Level.WARN, "budgets", found, "raise it, or wait for tomorrow")
    if not uses:
        yield Finding(
            Level.OK,
            "budgets",
            "none of a day: calls run ahead are bounded by slots, and by what is said of minutes and sessions",
        )
    else:
        yield Finding(level, "budgets", f"used today: {', '.join(map(_shown, uses))}{kept}", mend)


def _shown(use: Use) -> str:
    return f"{use.name} {use.used:g} of {use.limit:g}"
