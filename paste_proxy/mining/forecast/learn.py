"""Learning the model from recorded sessions: each part on what the other parts do on tasks they have not seen."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.types import ToolCall
from paste_proxy.events.values import Json, canonical_text
from paste_proxy.mining.forecast.arguments import Arguments, Shape
from paste_proxy.mining.forecast.choice import NOTHING, Choice, evened
from paste_proxy.mining.forecast.descent import Rows, logistic, softmax_over_groups, softmax_over_labels
from paste_proxy.mining.forecast.model import NONE, Finder, Model
from paste_proxy.mining.forecast.situation import cues
from paste_proxy.mining.forecast.slot import Constant, Slot, identity, kind_of, named, options, phrases_of
from paste_proxy.mining.groups import Recorded
from paste_proxy.mining.infer import LEAST_GROUPS, Explained, _covering, _greedy
from paste_proxy.mining.mappers import Mapper
from paste_proxy.mining.outlook import Outlook
from paste_proxy.mining.replay import replay
from paste_proxy.mining.window import USER, Window

FREQUENT_GROUPS = 3
_LEAST_WEIGHT = 0.02
_MAPPERS = 14
_CONSTANTS = 8
_LONGEST = 200
_FEW = 6
_LEAST_CALLS = 8
_NEARLY_ALL = 0.7
_PHRASE_GROUPS = 2
_PHRASE_SURE = 0.6


class Names:
    """Numbers for names."""

    def __init__(self) -> None:
        self.of: dict[Any, int] = {}

    def __call__(self, name: Any) -> int:
        return self.of.setdefault(name, len(self.of))


# --- the choice ------------------------------------------------------------------------------------


def frequent_of(sessions: Sequence[Recorded], groups: Sequence[str]) -> dict[str, Invocation]:
    """Invocations asked for in at least three task groups, by key."""
    where: dict[str, set[str]] = defaultdict(set)
    found: dict[str, Invocation] = {}
    for session, group in zip(sessions, groups, strict=True):
        for event in session.events:
            if isinstance(event, ToolCall) and event.invocation.arguments:
                where[event.invocation.key].add(group)
                found[event.invocation.key] = event.invocation
    return {key: found[key] for key, all_ in where.items() if len(all_) >= FREQUENT_GROUPS}


def learn_choice(told: Sequence[Sequence[str]], asked: Sequence[Sequence[str]]) -> Choice:
    """From the cues of moments and the labels of what came."""
    seen = Counter(cue for one in told for cue in one)
    cue_of, label_of = Names(), Names()
    rows = [[cue_of(cue) for cue in one if seen[cue] > 1] for one in told]
    labels = [[label_of(label) for label in one or (NOTHING,)] for one in asked]
    kept = [at for at, row in enumerate(rows) if row]
    if not kept:
        return Choice({}, {})
    bias, weights = softmax_over_labels(
        [rows[at] for at in kept],
        [labels[at] for at in kept],
        (len(cue_of.of), len(label_of.of)),
        epochs=14,
        rate=0.3,
        decay=3e-4,
        spread=evened,
    )
    names = list(label_of.of)
    by_cue = {}
    for cue, at in cue_of.of.items():
        row = {names[to]: round(float(weights[at, to]), 3) for to in (abs(weights[at]) >= _LEAST_WEIGHT).nonzero()[0]}
        if row:
            by_cue[cue] = row
    return Choice({name: round(float(bias[to]), 3) for to, name in enumerate(names)}, by_cue)


# --- the arguments ---------------------------------------------------------------------------------


@dataclass(slots=True)
class Values:
    """What an argument was given, by identity."""

    calls: int = 0
    times: Counter[object] = field(default_factory=Counter)
    groups: dict[object, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    value: dict[object, Json] = field(default_factory=dict)

    def enumerated(self) -> bool:
        """Whether a few values are nearly all."""
        few = self.times.most_common(_FEW)
        return self.calls >= _LEAST_CALLS and sum(times for _, times in few) >= _NEARLY_ALL * self.calls

    def constants(self, besides: str = "", most: int = _CONSTANTS) -> list[Constant]:
        """Values given in other task groups, the most frequent first."""
        found = []
        for key, groups in self.groups.items():
            others = len(groups) - (besides in groups)
            if others:
                times = self.times[key] - groups.get(besides, 0)
                found.append((others, times, key))
        found.sort(key=lambda one: (-one[0], -one[1], str(one[2])))
        calls = max(1, self.calls - sum(groups.get(besides, 0) for groups in self.groups.values()))
        return [Constant(self.value[key], times / calls) for _, times, key in found[:most]]


def learn_arguments(sessions: Sequence[Recorded], groups: Sequence[str], explained: Explained) -> Arguments:
    """Two passes: which mappers, constants and phrases there are, then the weights of their marks."""
    values: dict[tuple[str, str], Values] = defaultdict(Values)
    shapes: dict[str, Counter[tuple[str, ...]]] = defaultdict(Counter)
    spoken: dict[str, dict[str, dict[object, set[str]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(set)))
    meant: dict[str, dict[object, Json]] = defaultdict(dict)
    for session, group in zip(sessions, groups, strict=True):
        for at in replay(session):
            if at.calls:
                said = {phrase for text in _said(at.window) for phrase in phrases_of(text)}
            for call in at.calls:
                shapes[call.tool][tuple(sorted(call.arguments))] += 1
                for name, value in call.arguments.items():
                    slot = values[call.tool, name]
                    slot.calls += 1
                    key = identity(value)
                    if len(canonical_text(value)) > _LONGEST:
                        continue
                    slot.times[key] += 1
                    slot.groups[key][group] += 1
                    slot.value[key] = value
                    if isinstance(value, str) and len(value) < 120:
                        meant[name][key] = value
                        for phrase in said:
                            spoken[name][phrase][key].add(group)
    phrases = {name: _phrases(by_phrase, meant[name]) for name, by_phrase in spoken.items()}
    spoken.clear()
    mappers = _mappers(explained)
    slots = {
        (tool, name): Slot(tool, name, tuple((named(one), one) for one in mappers.get((tool, name), ())),
                           tuple(slot.constants()), phrases.get(name, {}), enumerated=slot.enumerated())
        for (tool, name), slot in values.items()
    }
    return Arguments(_shares(shapes), _weighed(slots, values, sessions, groups))


def _said(window: Window) -> Iterable[str]:
    return [seen.said.text()[:4_000] for seen in window.observations if seen.kind == USER and seen.said is not None]


def _phrases(spoken: dict[str, dict[object, set[str]]], meant: dict[object, Json]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for phrase, by_value in spoken.items():
        key, groups = max(by_value.items(), key=lambda one: (len(one[1]), str(one[0])))
        if len(groups) >= _PHRASE_GROUPS and len(groups) / sum(map(len, by_value.values())) >= _PHRASE_SURE:
            found[phrase] = meant[key]
    for value in meant.values():
        if isinstance(value, str) and 2 < len(value):
            found.setdefault(value.lower().replace("_", " "), value)
            if "/" in value:
                found.setdefault(value.rpartition("/")[2].lower(), value)
    return found


def _shares(shapes: dict[str, Counter[tuple[str, ...]]]) -> dict[str, tuple[Shape, ...]]:
    return {
        tool: tuple(Shape(names, times / counts.total()) for names, times in counts.most_common(6))
        for tool, counts in shapes.items()
    }


def _mappers(explained: Explained) -> dict[tuple[str, str], list[Mapper]]:
    by_slot: dict[tuple[str, str], list[Any]] = defaultdict(list)
    by_name: dict[str, list[Any]] = defaultdict(list)
    for (tool, names), occurrences in explained.occurrences.items():
        for name in names:
            by_slot[tool, name] += occurrences
            by_name[name] += [one for one in occurrences]
    found: dict[tuple[str, str], list[Mapper]] = {}
    shared = {name: _best(name, occurrences, explained, 8) for name, occurrences in by_name.items()}
    for (tool, name), occurrences in by_slot.items():
        best = _best(name, occurrences, explained, _MAPPERS)
        found[tool, name] = list(dict.fromkeys([*best, *shared[name]]))
    return found


def _best(name: str, occurrences: list[Any], explained: Explained, most: int) -> list[Mapper]:
    mapped = [
        replace_(one, {name: {key: weight for key, weight in one.explanations.get(name, {}).items() if isinstance(key, Mapper)}})
        for one in occurrences
    ]
    covering = _covering(name, mapped)
    return [explained.mappers[key] for key in _greedy(covering, [one.group for one in mapped], most)]  # type: ignore[misc]


def replace_(one: Any, explanations: Any) -> Any:
    return replace(one, explanations=explanations)


def _weighed(
    slots: dict[tuple[str, str], Slot],
    values: dict[tuple[str, str], Values],
    sessions: Sequence[Recorded],
    groups: Sequence[str],
) -> dict[tuple[str, str], Slot]:
    feature = Names()
    rows = Rows()
    hits: Counter[tuple[str, str]] = Counter()
    kinds = {name: kind_of(mapper) for slot in slots.values() for name, mapper in slot.mappers}
    constants: dict[tuple[str, str, str], list[Constant]] = {}
    marks: dict[tuple[str, str], set[str]] = defaultdict(set)
    for session, group in zip(sessions, groups, strict=True):
        for at in replay(session):
            for call in at.calls:
                for name, value in call.arguments.items():
                    where = call.tool, name
                    known = constants.get((*where, group))
                    if known is None:
                        known = constants[*where, group] = values[where].constants(group)
                    found = options(slots[where], at.window, known)
                    key = identity(value)
                    right = [identity(one.value) == key for one in found]
                    if not any(right):
                        continue
                    hits[where] += 1
                    if len(found) == 1:
                        continue
                    for option, wanted in zip(found, right, strict=True):
                        features = []
                        for mark in option.marks:
                            marks[where].add(mark)
                            features += [(feature(one), 1.0) for one in _levels(where, mark, kinds)]
                        rows.row(features, float(wanted))
                    rows.close()
    weights = softmax_over_groups(rows, len(feature.of), epochs=6, rate=0.2, decay=1e-4) if rows.groups else None
    result = {}
    for where, slot in slots.items():
        told = {}
        for mark in marks[where]:
            weight = sum(float(weights[feature.of[one]]) for one in _levels(where, mark, kinds))
            if abs(weight) >= _LEAST_WEIGHT:
                told[mark] = round(weight, 3)
        result[where] = replace(slot, weights=told, covered=(hits[where] + 1) / (values[where].calls + 2))
    return result


def _levels(where: tuple[str, str], mark: str, kinds: dict[str, str]) -> list[tuple[str, ...]]:
    mapper, _, rest = mark.rpartition("#")
    return [(*where, mark), (where[1], mark), (kinds.get(mapper, mapper), rest.partition("@")[0], str("@" in rest))]


# --- the whole -------------------------------------------------------------------------------------


def learn_finder(sessions: Sequence[Recorded], groups: Sequence[str], outlook: Outlook, explained: Explained) -> Finder:
    """All but the weights of the traits."""
    frequent = frequent_of(sessions, groups)
    told, asked = [], []
    for session in sessions:
        for at in replay(session):
            if at.calls or not at.next:
                told.append(cues(at.window))
                asked.append([call.key if call.key in frequent else call.tool for call in at.calls])
    return Finder(learn_choice(told, asked), frequent, learn_arguments(sessions, groups, explained), outlook)


class Ranking:
    """Gathers what a finder comes upon in sessions that it has not seen."""

    def __init__(self) -> None:
        self._feature = Names()
        self._next, self._ever = Rows(), Rows()

    def add(self, finder: Finder, session: Recorded) -> None:
        """Follow one session."""
        for at in replay(session):
            found = finder.find(at.window)
            right = sum(one.invocation.key in at.next for one, _ in found)
            for one, speaking in found:
                features = [(self._feature(name), value) for name, value in speaking]
                self._next.row(features, (one.invocation.key in at.next) / max(1, right))
                self._ever.row(features, float(one.invocation.key in at.ever))
            self._next.row([(self._feature(NONE), 1.0)], float(not right))
            self._next.close()
            self._ever.close()

    def model(self, finder: Finder) -> Model:
        """The model of a finder that has learned from all sessions."""
        size = len(self._feature.of)
        weighed = []
        for rows, fit in ((self._next, softmax_over_groups), (self._ever, logistic)):
            weights = fit(rows, size, epochs=6, rate=0.15, decay=1e-5)
            weighed.append({name: round(float(weights[at]), 4) for name, at in self._feature.of.items()})
        return Model(finder, *weighed)
