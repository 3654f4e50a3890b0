"""Mining: two passes over recorded sessions, then validation on held-out task groups (PASTE 4.1)."""

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from statistics import median

from paste_proxy.events.durations import credible
from paste_proxy.events.types import ToolCall, ToolOutput
from paste_proxy.mining.background import NO_BACKGROUND, Background
from paste_proxy.mining.calibration import calibrate
from paste_proxy.mining.cleaned import cleaned
from paste_proxy.mining.engine import Engine, Here
from paste_proxy.mining.forecast.finder import Finder
from paste_proxy.mining.forecast.model import Model
from paste_proxy.mining.forecast.training.arguing import learn_arguments
from paste_proxy.mining.forecast.training.choosing import frequent_of, learn_choice
from paste_proxy.mining.forecast.training.ranking import Ranking
from paste_proxy.mining.groups import Recorded, fold_of, groups_of
from paste_proxy.mining.held_out import HeldOut
from paste_proxy.mining.infer import LEAST_GROUPS, Explained
from paste_proxy.mining.notation import text_of
from paste_proxy.mining.outlook import Outlook
from paste_proxy.mining.pattern import Pattern
from paste_proxy.mining.pool import Pool, ToolFacts
from paste_proxy.mining.provenance import origin_of
from paste_proxy.mining.pruning import pruned
from paste_proxy.mining.ranked import ranked
from paste_proxy.mining.replay import replay
from paste_proxy.mining.tally import Tally

_FOLDS, _FOLDS_OF_FEW, _FEW = 2, 4, 20
"""Parts that the task groups are dealt into, each held out once; of few groups, one part is not much."""
_LARGE = 2**32
_PASSES = 3
"""Over each session of a job."""
_HERE = Here()
_CANDIDATES = 8


def mine(
    sessions: Sequence[Recorded],
    *,
    written: Sequence[Pattern] = (),
    background: Background = NO_BACKGROUND,
    engine: Engine = _HERE,
    on_session: Callable[[], None] = lambda: None,
    on_held_out: Callable[[HeldOut], None] = lambda _: None,
) -> Pool:
    """The pool of patterns, and the model that weighs them, that recorded sessions teach.

    `written` are patterns that people wrote; they pass the same validation as the mined ones, and keep their ids. Of
    one template there is one pattern, by the first id it was given. What is learned starts from the `background`, and
    holds nothing that looks like a secret, see `cleaned`. `engine` runs the jobs that mining consists of.
    `on_session` is called for each pass over a session of a job that is done, `passes(sessions)` times in all,
    `on_held_out` once with what the validation found.
    """
    groups = groups_of(sessions)
    jobs = _jobs(cleaned(sessions), groups, written, background)
    learned: list[Learned] = []
    for job, one in zip(jobs, engine.map(learn, jobs), strict=True):
        learned.append(one)
        for _ in range(_PASSES * len(job.sessions)):
            on_session()
    *parts, whole = learned
    pairs = _outcomes([part.ranking for part in parts], background)
    on_held_out(HeldOut.of(pairs))
    weights = Ranking.joined([part.ranking for part in parts]).weights(background)
    model = Model(whole.finder, weights.next, weights.ever, calibrate(pairs), weights.soon, weights.later)
    return replace(whole.pool, origin=origin_of(sessions, groups), models=(model,))


def passes(sessions: Sequence[Recorded]) -> int:
    """How many passes over a session `mine` makes in all."""
    return _PASSES * len(sessions) * _folds(set(groups_of(sessions)))


def _folds(groups: Collection[str]) -> int:
    return _FOLDS_OF_FEW if _FOLDS_OF_FEW <= len(groups) < _FEW else _FOLDS


@dataclass(frozen=True, slots=True)
class Job:
    """To learn from some sessions, each of the group at its place, and to try it on others."""

    sessions: Sequence[Recorded]
    groups: Sequence[str]
    written: Sequence[Pattern]
    background: Background = NO_BACKGROUND
    held: Sequence[Recorded] = ()


@dataclass(frozen=True, slots=True)
class Learned:
    """What a job teaches, and what it comes upon in the sessions held out."""

    pool: Pool
    finder: Finder
    ranking: Ranking


def _jobs(
    sessions: Sequence[Recorded], groups: Sequence[str], written: Sequence[Pattern], background: Background
) -> list[Job]:
    """Each fold of the groups is held out of one job; the last job learns from all."""
    distinct = sorted(set(groups), key=lambda group: (fold_of(group, _LARGE), group))
    folds = _folds(distinct)
    dealt = {group: at % folds for at, group in enumerate(distinct)}
    jobs: list[Job] = []
    for fold in range(folds):
        rest = [(session, group) for session, group in zip(sessions, groups, strict=True) if dealt[group] != fold]
        held = [session for session, group in zip(sessions, groups, strict=True) if dealt[group] == fold]
        jobs.append(Job([session for session, _ in rest], [group for _, group in rest], written, background, held))
    return [*jobs, Job(sessions, groups, written, background)]


def learn(job: Job) -> Learned:
    """Do a job."""
    explained = Explained.of(job.sessions, job.groups)
    pool = _patterns(job, explained)
    frequent = frequent_of(job.sessions, job.groups)
    choice = learn_choice(job.sessions, job.groups, frequent)
    arguments = learn_arguments(job.sessions, job.groups, explained, job.background.marks)
    finder = Finder(choice, frequent, arguments, Outlook(pool.patterns), judged=True)
    ranking = Ranking()
    for session in job.held:
        ranking.add(finder, session)
    return Learned(pool, finder, ranking)


def _outcomes(parts: Sequence[Ranking], background: Background) -> list[tuple[float, bool]]:
    """Confidences that what was learned on the other parts gives on each, and whether they came true."""
    pairs: list[tuple[float, bool]] = []
    for part in parts:
        weights = Ranking.joined([other for other in parts if other is not part]).weights(background)
        if weights.next and weights.ever:
            pairs += part.outcomes(weights)
    return pairs


def _patterns(job: Job, explained: Explained) -> Pool:
    sessions, groups = job.sessions, job.groups
    ids = {text_of(pattern.template): pattern.id for pattern in reversed(job.written)}
    every = [*explained.templates(), *(pattern.template for pattern in job.written)]
    templates = {text_of(template): template for template in every}
    tallies = [Tally(template, ids.get(text)) for text, template in templates.items()]
    for session, group in zip(sessions, groups, strict=True):
        for at in replay(session):
            for tally in tallies:
                tally.add(at, group)
    patterns = tuple(tally.pattern() for tally in tallies)
    pool = pruned(Pool(patterns, _facts(sessions)))
    earning = _earning(pool, sessions, groups)
    kept = [pattern for pattern in pool.patterns if pattern.id in earning or text_of(pattern.template) in ids]
    return replace(pool, patterns=tuple(replace(pattern, weighed=True) for pattern in kept))


def _earning(pool: Pool, sessions: Sequence[Recorded], groups: Sequence[str]) -> set[str]:
    """The patterns that gave a right candidate which no other gave with better odds, in enough task groups."""
    earned: dict[str, set[str]] = defaultdict(set)
    for session, group in zip(sessions, groups, strict=True):
        for at in replay(session):
            for one in ranked(pool, at.window, _CANDIDATES):
                if one.invocation.key in at.ever:
                    earned[one.pattern.id].add(group)
    return {pattern for pattern, where in earned.items() if len(where) >= LEAST_GROUPS}


def _facts(sessions: Sequence[Recorded]) -> dict[str, ToolFacts]:
    calls: dict[str, int] = defaultdict(int)
    seconds: dict[str, list[float]] = defaultdict(list)
    for session in sessions:
        for event in session.events:
            if isinstance(event, ToolCall):
                calls[event.invocation.tool] += 1
            elif isinstance(event, ToolOutput) and (took := credible(event.duration_s)) is not None:
                seconds[event.tool].append(took)
    return {
        tool: ToolFacts(count, median(seconds[tool]) if seconds[tool] else None)
        for tool, count in sorted(calls.items())
    }
