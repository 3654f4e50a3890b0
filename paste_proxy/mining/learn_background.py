"""Learning a background from sets of sessions, as different as can be.

Of each set a few tasks are learned from and others judged, again and again, which is how a user begins; what is told of
finds and arguments by traits and marks that hold anywhere is then weighed over all sets. Arguments are weighed first;
what a set is judged by then leans on what the others say of arguments.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

from paste_proxy.mining.background import Background
from paste_proxy.mining.cleaned import cleaned
from paste_proxy.mining.forecast.finder import Executable, Finder, Found
from paste_proxy.mining.forecast.habits import Habit
from paste_proxy.mining.forecast.training.arguing import Marking, slots_of
from paste_proxy.mining.forecast.training.descent import Rows, softmax_over_groups
from paste_proxy.mining.forecast.training.given import Given, Where
from paste_proxy.mining.forecast.training.kinds import holds_anywhere
from paste_proxy.mining.forecast.training.names import Names
from paste_proxy.mining.forecast.training.ranking import Ranking
from paste_proxy.mining.forecast.traits import Told
from paste_proxy.mining.general import general
from paste_proxy.mining.groups import Recorded, fold_of, groups_of
from paste_proxy.mining.infer import Explained
from paste_proxy.mining.mine import Job, learn
from paste_proxy.mining.provenance import digests, tasks_of
from paste_proxy.mining.window import Window

_TASKS = 8
"""Learned from at once."""
_LARGE = 2**32
_LEAST_SETS = 2
_EPOCHS, _RATE, _DECAY = 10, 0.2, 3e-3
_LEAST_WEIGHT = 0.02


@dataclass(frozen=True, slots=True)
class _Part:
    """Some tasks of a set, and the sessions of others to try what they teach on."""

    sessions: Sequence[Recorded]
    groups: Sequence[str]
    held: Sequence[Recorded]
    held_groups: Sequence[str]


def learn_background(sets: Sequence[Sequence[Recorded]], on_set: Callable[[], None] = lambda: None) -> Background:
    """What holds in several sets.

    `on_set` is called twice for each set, after each of the two passes.
    """
    clean = [cleaned(sessions) for sessions in sets]
    parts = [_parts(sessions) for sessions in clean]
    told: list[_Kinds] = []
    for of_set in parts:
        told.append(_Kinds.of(of_set))
        on_set()
    rankings: list[Ranking] = []
    for at, of_set in enumerate(parts):
        others = _marks([one for index, one in enumerate(told) if index != at])
        rankings += [_ranking(part, Background(marks=others)) for part in of_set]
        on_set()
    weights = Ranking.joined(rankings).weights()
    every = [session for sessions in clean for session in sessions]
    sources = tuple(sorted({session.source.partition(":")[0] for session in every}))
    return Background(
        weights.next,
        weights.ever,
        _marks(told),
        weights.soon,
        weights.later,
        sources,
        digests(session.id for session in every),
        tasks_of(session for sessions in sets for session in sessions),
    )


def _parts(sessions: Sequence[Recorded]) -> list[_Part]:
    """The tasks of a set in parts of about so many, each to be tried on the next one."""
    by_group: dict[str, list[Recorded]] = defaultdict(list)
    for session, group in zip(sessions, groups_of(sessions), strict=True):
        by_group[group].append(session)
    number = max(2, round(len(by_group) / _TASKS))
    order = sorted(by_group, key=lambda group: (fold_of(f"background {group}", _LARGE), group))
    dealt = [order[at::number] for at in range(number)]
    lists = [[(session, group) for group in groups for session in by_group[group]] for groups in dealt]
    return [
        _Part(*zip(*part, strict=True), *zip(*lists[(at + 1) % number], strict=True))
        for at, part in enumerate(lists)
        if part and lists[(at + 1) % number]
    ]


class _Kinds(Marking):
    """Marks by kind alone, where they hold anywhere."""

    @classmethod
    def of(cls, parts: Iterable[_Part]) -> "_Kinds":
        """What each part teaches of arguments, told by those of the next."""
        every = cls({}, Given())
        for part in parts:
            given = Given.of(part.sessions, part.groups)
            slots = slots_of(given, Explained.of(part.sessions, part.groups), _ANY_MARKS)
            one = cls(slots, given)
            one.follow(part.held, part.held_groups)
            every.rows.extend(one.rows, {at: every.feature(kind) for kind, at in one.feature.of.items()})
        return every

    def _levels(self, where: Where, mark: str) -> Sequence[Hashable]:
        kind = super()._levels(where, mark)[-1]
        return [kind] if isinstance(kind, str) and holds_anywhere(kind) else []


_ANY_MARKS = {"used#never": 0.0}
"""A prior that says nothing, so that what would do for any tool is tried."""


def _marks(told: Sequence[_Kinds]) -> dict[str, float]:
    """What kinds of marks weigh, of those met in several sets."""
    feature, rows = Names[Hashable](), Rows()
    met: dict[Hashable, int] = defaultdict(int)
    for one in told:
        rows.extend(one.rows, {at: feature(kind) for kind, at in one.feature.of.items()})
        for kind in one.feature.of:
            met[kind] += 1
    if not feature.of:
        return {}
    weights = softmax_over_groups(rows, len(feature.of), epochs=_EPOCHS, rate=_RATE, decay=_DECAY)
    named = {str(kind): round(float(weights[at]), 3) for kind, at in feature.of.items() if met[kind] >= _LEAST_SETS}
    return {kind: weight for kind, weight in named.items() if abs(weight) >= _LEAST_WEIGHT}


def _ranking(part: _Part, background: Background) -> Ranking:
    found = learn(Job(part.sessions, part.groups, (), background)).finder
    finder = _AnyTraits(found.choice, found.frequent, found.arguments, found.outlook, judged=True)
    ranking = Ranking()
    for session in part.held:
        ranking.add(finder, session)
    return ranking


class _AnyTraits(Finder):
    """Tells only the traits that name no tool."""

    def find(self, window: Window, executable: Executable, habits: Iterable[Habit] = ()) -> Found:
        found = super().find(window, executable, habits)
        return [(one, Told([tuple(trait for trait in told if general(trait[0]))])) for one, told in found]
