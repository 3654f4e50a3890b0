"""Mining: two passes over recorded sessions, then validation on held-out task groups (PASTE 4.1)."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from statistics import median

from paste_proxy.events.types import ToolCall, ToolOutput
from paste_proxy.mining.calibration import calibrate
from paste_proxy.mining.groups import Recorded, fold_of, groups_of
from paste_proxy.mining.held_out import HeldOut
from paste_proxy.mining.infer import LEAST_GROUPS, Explained
from paste_proxy.mining.notation import text_of
from paste_proxy.mining.pool import Origin, Pool, ToolFacts
from paste_proxy.mining.predict import ranked
from paste_proxy.mining.provenance import digests
from paste_proxy.mining.pruning import pruned
from paste_proxy.mining.replay import replay
from paste_proxy.mining.tally import Tally
from paste_proxy.mining.templates import AnyTemplate

_FOLDS = 2
_CANDIDATES = 8


def mine(
    sessions: Sequence[Recorded],
    *,
    written: Sequence[AnyTemplate] = (),
    on_session: Callable[[], None] = lambda: None,
    on_held_out: Callable[[HeldOut], None] = lambda _: None,
) -> Pool:
    """The pool of patterns that recorded sessions teach.

    `written` are templates that people wrote; they pass the same validation as the mined ones.
    `on_session` is called whenever a pass over a session ends, `passes(len(sessions))` times in all,
    `on_held_out` once with what the validation found.
    """
    groups = groups_of(sessions)
    pairs = _validate(sessions, groups, written, on_session)
    on_held_out(HeldOut.of(pairs))
    return replace(_learn(sessions, groups, written, on_session), calibration=calibrate(pairs))


def passes(sessions: int) -> int:
    """How many passes over a session `mine` makes in all."""
    return 3 * sessions * _FOLDS


def _learn(
    sessions: Sequence[Recorded],
    groups: Sequence[str],
    written: Sequence[AnyTemplate],
    on_session: Callable[[], None],
) -> Pool:
    explained = Explained()
    for session, group in zip(sessions, groups, strict=True):
        for at in replay(session):
            for call in at.calls:
                explained.add(group, call, at.window)
        on_session()
    templates = {text_of(template): template for template in [*explained.templates(), *written]}
    tallies = [Tally(template) for template in templates.values()]
    for session, group in zip(sessions, groups, strict=True):
        for at in replay(session):
            for tally in tallies:
                tally.add(at, group)
        on_session()
    patterns = tuple(tally.pattern() for tally in tallies)
    pool = pruned(Pool(patterns, _facts(sessions), origin=_origin(sessions, groups)))
    earning = _earning(pool, sessions, groups, on_session)
    kept = [pattern for pattern in pool.patterns if pattern.id in earning or pattern.template in written]
    return replace(pool, patterns=tuple(kept))


def _earning(
    pool: Pool, sessions: Sequence[Recorded], groups: Sequence[str], on_session: Callable[[], None]
) -> set[str]:
    """The patterns that gave a right candidate which no other gave with better odds, in enough task groups."""
    earned: dict[str, set[str]] = defaultdict(set)
    for session, group in zip(sessions, groups, strict=True):
        for at in replay(session):
            for one in ranked(pool, at.window, _CANDIDATES):
                if one.invocation.key in at.ever:
                    earned[one.pattern.id].add(group)
        on_session()
    return {pattern for pattern, where in earned.items() if len(where) >= LEAST_GROUPS}


def _validate(
    sessions: Sequence[Recorded],
    groups: Sequence[str],
    written: Sequence[AnyTemplate],
    on_session: Callable[[], None],
) -> list[tuple[float, bool]]:
    """Confidence of each candidate on held-out groups, and whether it came true."""
    pairs: list[tuple[float, bool]] = []
    for fold in range(_FOLDS):
        held = [fold_of(group, _FOLDS) == fold for group in groups]
        rest = [(session, group) for session, group, out in zip(sessions, groups, held, strict=True) if not out]
        pool = _learn([session for session, _ in rest], [group for _, group in rest], written, on_session)
        for session, out in zip(sessions, held, strict=True):
            if out:
                pairs += _outcomes(session, pool)
    return pairs


def _outcomes(session: Recorded, pool: Pool) -> Iterator[tuple[float, bool]]:
    for at in replay(session):
        for one in ranked(pool, at.window, _CANDIDATES):
            yield one.odds[1], one.invocation.key in at.ever


def _facts(sessions: Sequence[Recorded]) -> dict[str, ToolFacts]:
    calls: dict[str, int] = defaultdict(int)
    seconds: dict[str, list[float]] = defaultdict(list)
    for session in sessions:
        for event in session.events:
            if isinstance(event, ToolCall):
                calls[event.invocation.tool] += 1
            elif isinstance(event, ToolOutput) and event.duration_s is not None:
                seconds[event.tool].append(event.duration_s)
    return {
        tool: ToolFacts(count, median(seconds[tool]) if seconds[tool] else None)
        for tool, count in sorted(calls.items())
    }


def _origin(sessions: Sequence[Recorded], groups: Sequence[str]) -> Origin:
    calls = sum(isinstance(event, ToolCall) for session in sessions for event in session.events)
    return Origin(
        sessions=len(sessions),
        groups=len(set(groups)),
        calls=calls,
        sources=tuple(sorted({session.source for session in sessions})),
        ids=digests(session.id for session in sessions),
    )
