"""Learning where arguments come from: which mappers there are, then what the marks of their values weigh."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod

from paste_proxy.events.values import Json
from paste_proxy.mining.algebra import LiveMapper, named
from paste_proxy.mining.contexts import outcome
from paste_proxy.mining.forecast.arguments import Arguments, Shape
from paste_proxy.mining.forecast.slot import (
    Marks,
    Slot,
    constant_sums,
    identity,
    mapper_table,
    options,
)
from paste_proxy.mining.forecast.training.descent import Floats, Rows, softmax_over_groups
from paste_proxy.mining.forecast.training.given import Given, Where
from paste_proxy.mining.forecast.training.kinds import for_any_tool, kind_at
from paste_proxy.mining.forecast.training.names import Names
from paste_proxy.mining.groups import Recorded
from paste_proxy.mining.infer import LEAST_GROUPS, Explained, Occurrence, greedy
from paste_proxy.mining.replay import replay
from paste_proxy.mining.window import Window

_SHAPES = 6
_OWN_MAPPERS = 9
_SHARED_MAPPERS = 3
_MAPPERS_OF_ANY_TOOL = 5
_FEW_GROUPS = 4
"""An argument that fewer task groups gave is looked for as those of any tool are."""
_TRUST = 0.2
"""Of a call that a mapper explains, what weight elsewhere is worth."""
_RANKS = ("0", "1", "2", "3", "4", "only")
_LEAST_WEIGHT = 0.02
_NO_PRIOR: Mapping[str, float] = {}


def learn_arguments(
    sessions: Sequence[Recorded], groups: Sequence[str], explained: Explained, prior: Mapping[str, float] = _NO_PRIOR
) -> Arguments:
    """The slots and shapes of every tool.

    Args:
        prior: what marks weigh whatever the tool, by kind: see `Background.marks`.
    """
    given = Given.of(sessions, groups)
    marking = Marking(slots_of(given, explained, prior), given)
    marking.follow(sessions, groups)
    weighed = marking.weighed(prior)
    return Arguments(_shapes(given.shapes, weighed), weighed)


def slots_of(given: Given, explained: Explained, prior: Mapping[str, float] = _NO_PRIOR) -> dict[Where, Slot]:
    """The slots of every tool before their marks are weighed."""
    mappers = _mappers(explained, prior)
    phrases = {name: given.phrases(name) for name in {name for _, name in given.values}}
    return {
        (tool, name): Slot(
            tool,
            name,
            tuple((named(mapper), mapper) for mapper in mappers.get((tool, name), ())),
            tuple(values.constants()),
            phrases[name],
            enumerated=values.enumerated(),
        )
        for (tool, name), values in given.values.items()
    }


def _shapes(
    counts: Mapping[str, Counter[tuple[str, ...]]], slots: Mapping[Where, Slot]
) -> dict[str, tuple[Shape, ...]]:
    return {
        tool: tuple(
            Shape(
                names,
                round(times / of_tool.total(), 4),
                round(prod((slots[tool, name].covered for name in names), start=1.0), 4),
            )
            for names, times in of_tool.most_common(_SHAPES)
        )
        for tool, of_tool in counts.items()
    }


def _mappers(explained: Explained, prior: Mapping[str, float]) -> dict[Where, list[LiveMapper]]:
    """Those that cover a tool's argument best, then those that cover arguments of its name best; of an argument that is
    little known, with a prior, also those that would do for any tool."""
    by_slot: dict[Where, list[Occurrence]] = defaultdict(list)
    by_name: dict[str, list[Occurrence]] = defaultdict(list)
    for (tool, names), occurrences in explained.occurrences.items():
        for name in names:
            by_slot[tool, name] += occurrences
            by_name[name] += occurrences
    shared = {name: _best(name, occurrences, _SHARED_MAPPERS) for name, occurrences in by_name.items()}
    found: dict[Where, list[LiveMapper]] = {}
    for (tool, name), occurrences in by_slot.items():
        every = [*_best(name, occurrences, _OWN_MAPPERS), *shared[name]]
        if prior and len({occurrence.group for occurrence in occurrences}) < _FEW_GROUPS:
            every += _of_any_tool(name, occurrences, prior)
        found[tool, name] = list(dict.fromkeys(every))
    return found


def _best(name: str, occurrences: list[Occurrence], most: int) -> list[LiveMapper]:
    covering: dict[LiveMapper, dict[int, float]] = defaultdict(dict)
    for at, occurrence in enumerate(occurrences):
        for key, weight in occurrence.explanations.get(name, {}).items():
            if isinstance(key, LiveMapper):
                covering[key][at] = weight
    return list(greedy(covering, [occurrence.group for occurrence in occurrences], most))


def _of_any_tool(name: str, occurrences: list[Occurrence], prior: Mapping[str, float]) -> list[LiveMapper]:
    """Those that hold for any tool and explain as little as one call; of equals the one that weighs most elsewhere."""
    covered: dict[LiveMapper, float] = defaultdict(float)
    for occurrence in occurrences:
        best: dict[LiveMapper, float] = {}
        for key, weight in occurrence.explanations.get(name, {}).items():
            anyhow = for_any_tool(key, name) if isinstance(key, LiveMapper) else None
            if anyhow is not None:
                best[anyhow] = max(weight, best.get(anyhow, 0.0))
        for mapper, weight in best.items():
            covered[mapper] += weight

    def worth(mapper: LiveMapper) -> float:
        return covered[mapper] + _TRUST * prior.get(f"{kind_at(mapper, name)}#0", 0.0)

    return sorted(covered, key=worth, reverse=True)[:_MAPPERS_OF_ANY_TOOL]


@dataclass
class Marking:
    """Gathers the options of every recorded argument, and which of them was meant.

    A mark counts at three places: for the argument of the tool, for arguments of its name, and for its kind
    anywhere; so what little is seen of one tool leans on what is seen of others.
    """

    slots: dict[Where, Slot]
    given: Given
    rows: Rows = field(default_factory=Rows)
    feature: Names[Hashable] = field(default_factory=Names)
    hits: Counter[Where] = field(default_factory=Counter)
    marks: dict[Where, set[str]] = field(default_factory=lambda: defaultdict(set))
    groups: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """By mark, `LEAST_GROUPS` of the task groups in which some argument's value had it."""
    _kinds: dict[tuple[str, str], str] = field(default_factory=dict)
    _others: dict[tuple[Where, str], tuple[Slot, list[tuple[Json, Marks]]]] = field(default_factory=dict)
    """By slot and task group: the slot as the other groups would have it."""
    _phrases: dict[tuple[str, str], dict[str, Json]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._kinds = {
            (slot.name, name): kind_at(mapper, slot.name)
            for slot in self.slots.values()
            for name, mapper in slot.mappers
        }

    def follow(self, sessions: Sequence[Recorded], groups: Sequence[str]) -> None:
        """Every argument, of those that have a slot, of every call of sessions."""
        for session, group in zip(sessions, groups, strict=True):
            for at in replay(session):
                for call in at.calls:
                    for name, value in call.arguments.items():
                        if (call.tool, name) in self.slots:
                            self.add((call.tool, name), value, group, at.window)

    def add(self, where: Where, value: Json, group: str, window: Window) -> None:
        """An argument's value; constants and phrases are those of other task groups."""
        slot, constants = self._of_others(where, group)
        table = mapper_table(slot, outcome(window.context()[-1]), _as_they_are)
        found = options(slot, window, _as_they_are, table, constants)
        key = identity(value)
        right = [identity(one.value) == key for one in found]
        self.hits[where] += any(right)
        if any(right) and len(found) > 1:
            for option, wanted in zip(found, right, strict=True):
                self.marks[where].update(option.sum)
                for mark in option.sum:
                    if len(self.groups[mark]) < LEAST_GROUPS:
                        self.groups[mark].add(group)
                features = [(self.feature(one), 1.0) for mark in option.sum for one in self._levels(where, mark)]
                self.rows.row(features, float(wanted))
            self.rows.close()

    def _of_others(self, where: Where, group: str) -> tuple[Slot, list[tuple[Json, Marks]]]:
        found = self._others.get((where, group))
        if found is None:
            name = where[1]
            phrases = self._phrases.get((name, group))
            if phrases is None:
                phrases = self._phrases[name, group] = self.given.phrases(name, group)
            constants = constant_sums(self.given.values[where].constants(group), _as_they_are)
            found = self._others[where, group] = replace(self.slots[where], phrases=phrases), constants
        return found

    def weighed(self, prior: Mapping[str, float] = _NO_PRIOR) -> dict[Where, Slot]:
        """The slots with the weights of their marks, which start from those of a prior by kind."""
        size = len(self.feature.of)
        weights: Sequence[float] | Floats = []
        if size:
            known = {self.feature.of[kind]: weight for kind, weight in prior.items() if kind in self.feature.of}
            weights = softmax_over_groups(self.rows, size, epochs=6, rate=0.2, decay=1e-4, prior=known)
        weight_of: dict[Hashable, float] = {kind: weight for kind, weight in prior.items()}  # noqa: C416
        weight_of.update((name, float(weights[at])) for name, at in self.feature.of.items())
        everywhere = [mark for mark in prior if "|" not in mark]
        slots: dict[Where, Slot] = {}
        for where, slot in self.slots.items():
            marks = {mark for mark in self.marks[where] if len(self.groups[mark]) >= LEAST_GROUPS}
            if prior:
                marks.update(everywhere, (f"{name}#{rank}" for name, _ in slot.mappers for rank in _RANKS))
            told: dict[str, float] = {}
            for mark in sorted(marks):
                weight = sum(weight_of.get(level, 0.0) for level in self._levels(where, mark))
                if abs(weight) >= _LEAST_WEIGHT:
                    told[mark] = round(weight, 3)
            covered = max(1e-4, round((self.hits[where] + 1) / (self.given.values[where].calls + 2), 4))
            slots[where] = replace(slot, weights=told, covered=covered)
        return slots

    def _levels(self, where: Where, mark: str) -> Sequence[Hashable]:
        mapper, _, rest = mark.rpartition("#")
        kind = self._kinds.get((where[1], mapper), mapper)
        rank, after, _ = rest.partition("@")
        return [(*where, mark), (where[1], mark), f"{kind}#{rank}{after}"]


def _as_they_are(marks: Marks) -> Marks:
    return marks
