"""Prediction by cross-validation: mined on all folds but one, judged on that one, for each in turn.

Replays of one task are in one fold, so that nothing is judged that was mined from.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from time import perf_counter

from paste_proxy.bench.peak import peak_memory
from paste_proxy.bench.stopwatch import Stopwatch
from paste_proxy.events.cored import cored
from paste_proxy.events.values import Json
from paste_proxy.importers.neutral import RecordedSession
from paste_proxy.mining.background import NO_BACKGROUND, Background
from paste_proxy.mining.evaluate import Evaluation
from paste_proxy.mining.groups import fold_of, groups_of
from paste_proxy.mining.mine import mine, passes
from paste_proxy.mining.pool import Pool
from paste_proxy.mining.predict import Predictor

_LARGE = 2**32


@dataclass(frozen=True, slots=True)
class Split:
    """One fold and the rest."""

    fold: int
    mined: list[RecordedSession]
    judged: list[RecordedSession]

    @property
    def passes(self) -> int:
        """Over a session, to mine and to judge."""
        return passes(self.mined) + len(self.judged)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mined:
    """What mining for one fold took."""

    fold: int
    mined: int
    """Sessions."""
    judged: int
    """Sessions."""
    patterns: int
    mining_s: float
    peak_mb: float


def splits(sessions: Sequence[RecordedSession], folds: int, only: int | None = None) -> list[Split]:
    """The folds that hold anything and leave anything to mine; `only` one of them, numbered from 0."""
    groups = groups_of(sessions)
    fold_by = {group: at % folds for at, group in enumerate(sorted(set(groups), key=_shuffled))}
    placed = [(session, fold_by[group]) for session, group in zip(sessions, groups, strict=True)]
    found = [
        Split(fold, [one for one, at in placed if at != fold], [one for one, at in placed if at == fold])
        for fold in (range(folds) if only is None else [only])
    ]
    return [split for split in found if split.mined and split.judged]


def cross_validate(
    found: Sequence[Split],
    evaluation: Evaluation,
    on_session: Callable[[], None] = lambda: None,
    *,
    background: Background = NO_BACKGROUND,
) -> dict[str, Json]:
    """Mine and judge every split; the report of `evaluation` over all of them, with times and memory.

    Mining starts from the `background`. `on_session` is called after each pass over a session.
    """
    watch, mined = Stopwatch(), list[Mined]()
    for split in found:
        pool, took = _mined(split, evaluation, background, on_session)
        mined.append(took)
        for session in split.judged:
            ahead = evaluation.ahead(pool)
            evaluation.add(session, Predictor(pool).step, watch.timed(ahead.step))
            on_session()
    judged = [session for split in found for session in split.judged]
    return {
        **evaluation.report(),
        "sessions": len(judged),
        "tasks": len(set(groups_of(judged))),
        "mining_s": round(sum(one.mining_s for one in mined), 2),
        "peak_mb": max((one.peak_mb for one in mined), default=0.0),
        **watch.report(),
        "folds": [asdict(one) for one in mined],
    }


def _mined(
    split: Split, evaluation: Evaluation, background: Background, on_session: Callable[[], None]
) -> tuple[Pool, Mined]:
    cores = [
        replace(session, events=tuple(cored(event, evaluation.core) for event in session.events))
        for session in split.mined
    ]
    begin = perf_counter()
    with peak_memory() as peak:
        pool = mine(cores, background=background, on_session=on_session)
    return pool, Mined(
        fold=split.fold,
        mined=len(split.mined),
        judged=len(split.judged),
        patterns=len(pool.patterns),
        mining_s=round(perf_counter() - begin, 2),
        peak_mb=peak.mb,
    )


def _shuffled(group: str) -> int:
    """An order that has nothing to do with the folds that mining itself holds out: those would be lopsided."""
    return fold_of(f"judged {group}", _LARGE)
