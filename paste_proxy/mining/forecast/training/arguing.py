"""Learning where arguments come from: which mappers there are, then what the marks of their values weigh."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod

from paste_proxy.events.values import Json
from paste_proxy.mining.algebra import LiveMapper, kind_of, named
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
from paste_proxy.mining.forecast.training.names import Names
from paste_proxy.mining.groups import Recorded
from paste_proxy.mining.infer import LEAST_GROUPS, Explained, Occurrence, greedy
from paste_proxy.mining.replay import replay
from paste_proxy.mining.window import Window

_SHAPES = 6
_OWN_MAPPERS = 9
_SHARED_MAPPERS = 3
_LEAST_WEIGHT = 0.02


def learn_arguments(sessions: Sequence[Recorded], groups: Sequence[str], explained: Explained) -> Arguments:
    """The slots and shapes of every tool."""
    given = Given.of(sessions, groups)
    mappers = _mappers(explained)
    phrases = {name: given.phrases(name) for name in {name for _, name in given.values}}
    slots = {
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
    marking = _Marking(slots, given)
    for session, group in zip(sessions, groups, strict=True):
        for at in replay(session):
            for call in at.calls:
                for name, value in call.arguments.items():
                    marking.add((call.tool, name), value, group, at.window)
    weighed = marking.weighed()
    return Arguments(_shapes(given.shapes, weighed), weighed)


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


def _mappers(explained: Explained) -> dict[Where, list[LiveMapper]]:
    """Those that cover a tool's argument best, then those that cover arguments of its name best."""
    by_slot: dict[Where, list[Occurrence]] = defaultdict(list)
    by_name: dict[str, list[Occurrence]] = defaultdict(list)
    for (tool, names), occurrences in explained.occurrences.items():
        for name in names:
            by_slot[tool, name] += occurrences
            by_name[name] += occurrences
    shared = {name: _best(name, occurrences, _SHARED_MAPPERS) for name, occurrences in by_name.items()}
    return {
        (tool, name): list(dict.fromkeys([*_best(name, occurrences, _OWN_MAPPERS), *shared[name]]))
        for (tool, name), occurrences in by_slot.items()
    }


def _best(name: str, occurrences: list[Occurrence], most: int) -> list[LiveMapper]:
    covering: dict[LiveMapper, dict[int, float]] = defaultdict(dict)
    for at, occurrence in enumerate(occurrences):
        for key, weight in occurrence.explanations.get(name, {}).items():
            if isinstance(key, LiveMapper):
                covering[key][at] = weight
    return list(greedy(covering, [occurrence.group for occurrence in occurrences], most))


@dataclass
class _Marking:
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
    _kinds: dict[str, str] = field(default_factory=dict)
    _others: dict[tuple[Where, str], tuple[Slot, list[tuple[Json, Marks]]]] = field(default_factory=dict)
    """By slot and task group: the slot as the other groups would have it."""
    _phrases: dict[tuple[str, str], dict[str, Json]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._kinds = {name: kind_of(mapper) for slot in self.slots.values() for name, mapper in slot.mappers}

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

    def weighed(self) -> dict[Where, Slot]:
        """The slots with the weights of their marks."""
        size = len(self.feature.of)
        weights: Sequence[float] | Floats = []
        if size:
            weights = softmax_over_groups(self.rows, size, epochs=6, rate=0.2, decay=1e-4)
        slots: dict[Where, Slot] = {}
        for where, slot in self.slots.items():
            told: dict[str, float] = {}
            for mark in sorted(mark for mark in self.marks[where] if len(self.groups[mark]) >= LEAST_GROUPS):
                weight = sum(float(weights[self.feature(one)]) for one in self._levels(where, mark))
                if abs(weight) >= _LEAST_WEIGHT:
                    told[mark] = round(weight, 3)
            covered = max(1e-4, round((self.hits[where] + 1) / (self.given.values[where].calls + 2), 4))
            slots[where] = replace(slot, weights=told, covered=covered)
        return slots

    def _levels(self, where: Where, mark: str) -> list[Hashable]:
        mapper, _, rest = mark.rpartition("#")
        kind = self._kinds.get(mapper, mapper), rest.partition("@")[0], "@" in rest
        return [(*where, mark), (where[1], mark), kind]


def _as_they_are(marks: Marks) -> Marks:
    return marks
