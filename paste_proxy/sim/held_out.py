"""Pools that were mined without the sessions that they are used in."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from paste_proxy.bench.predict import splits
from paste_proxy.events.cored import cored
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.types import CallSealed, Event, ToolCall, ToolOutput
from paste_proxy.importers.neutral import RecordedSession
from paste_proxy.mining.mine import mine
from paste_proxy.mining.pool import Pool
from paste_proxy.mining.provenance import known
from paste_proxy.sim.spelling import Spelling
from paste_proxy.speculation.policy import Policy


def unknown_to(pool: Pool, sessions: Sequence[RecordedSession]) -> list[RecordedSession]:
    """The sessions that the pool was not mined from, nor from others of their tasks."""
    origin = pool.origin
    return [one for one in sessions if not any(known([one], origin.ids, origin.tasks))]


def mined_without(
    sessions: Sequence[RecordedSession],
    folds: int,
    policy: Policy,
    spelling: Spelling,
    on_fold: Callable[[], None] = lambda: None,
) -> list[tuple[RecordedSession, Pool]]:
    """Each session, with a pool that was mined from all folds but its own, beginning from nothing."""
    found: list[tuple[RecordedSession, Pool]] = []
    for split in splits(sessions, folds):
        shown = [
            replace(one, events=tuple(_shown(event, policy, spelling) for event in one.events)) for one in split.mined
        ]
        pool = mine(shown)
        found += [(one, pool) for one in split.judged]
        on_fold()
    return found


def _shown(event: Event, policy: Policy, spelling: Spelling) -> Event:
    """What a predictor is shown of an event, see `foresight`."""
    if isinstance(event, ToolCall | CallSealed):
        event = replace(event, invocation=spelling.asked(event.invocation))
        event = cored(event, policy.core)
        assert isinstance(event, ToolCall | CallSealed)
        return replace(event, invocation=spelling.pooled(event.invocation))
    if isinstance(event, ToolOutput):
        asked = spelling.asked(Invocation(event.tool, {}))
        return replace(event, tool=spelling.pooled(asked).tool)
    return event
