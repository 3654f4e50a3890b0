"""Pass two: which mappers explain the arguments a tool was called with (PASTE 4.1).

Every argument of every recorded call is looked up in what its session held just before. Mappers that
explain it in at least two task groups are kept, and combined into templates: a greedy multi-cover of the
tool's calls, so that one call is explained by templates of different reach. A mapper covers a call the
better the earlier it gives the right value: one that names the value beats one that lists it among others.
Texts with several holes are covered in the same way first, hole by hole.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice, product
from math import prod
from typing import TypeVar

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.values import Json, canonical_text
from paste_proxy.mining.algebra import AnyMapper
from paste_proxy.mining.explain import explain, explain_hole, explain_relative, explain_step, rank_of
from paste_proxy.mining.extent import is_long
from paste_proxy.mining.filled import Filled, Filler
from paste_proxy.mining.groups import Recorded
from paste_proxy.mining.mappers import Constant, Mapper
from paste_proxy.mining.replay import replay
from paste_proxy.mining.skeletons import NAMES, Skeletons
from paste_proxy.mining.templates import AnyTemplate, Repeat, Template
from paste_proxy.mining.window import Window

LEAST_GROUPS = 2
"""Task groups a mapper or template must be seen in."""
MOST_ARGUMENTS = 64
"""A call of more is known as a whole alone, by its repeats: what fills so many is seldom foreseen in all of them, and
each of them is looked up on its own."""
_MAPPERS_KEPT = 14
_JOINT_TRIED = 400
_JOINT_WORK = 6_400
"""Mappers that the joint explanations of one call consist of, in all: of many arguments, fewer are tried."""
_TEMPLATES_KEPT = 24
_LEAST_GAIN = 0.5
_FILLERS_KEPT = 5
"""Of one hole."""
_FILLED_KEPT = 4
"""Texts of one skeleton, by what fills it."""

Name = TypeVar("Name", bound=Hashable)
Shape = tuple[str, tuple[str, ...]]
"""A tool and the names of the arguments it was called with."""


@dataclass(slots=True)
class Occurrence:
    """One recorded call and the mappers that explain each of its arguments, with how well they do."""

    group: str
    explanations: dict[str, dict[Hashable, float]]
    """By argument and mapper key: 1 if the value is the first that the mapper gives, 1/2 if the second..."""


@dataclass(slots=True)
class _Holed:
    """The texts of one skeleton: whose they are, and what explains each of their holes, how well."""

    occurrences: list[Occurrence] = field(default_factory=list)
    fillers: list[list[dict[Filler, float]]] = field(default_factory=list)


@dataclass(slots=True)
class Explained:
    """All recorded calls, by shape."""

    skeletons: Skeletons = field(default_factory=Skeletons)
    occurrences: dict[Shape, list[Occurrence]] = field(default_factory=lambda: defaultdict(list))
    repeated: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Groups that asked for the same invocation of a tool again."""
    mappers: dict[Hashable, AnyMapper] = field(default_factory=dict)
    """By key."""
    _holed: dict[tuple[str, str, str], _Holed] = field(default_factory=lambda: defaultdict(_Holed))
    """By tool, argument and skeleton."""

    @classmethod
    def of(cls, sessions: Sequence[Recorded], groups: Sequence[str]) -> "Explained":
        """Explain every call of recorded sessions."""
        explained = cls(Skeletons.of(sessions, groups, LEAST_GROUPS))
        for session, group in zip(sessions, groups, strict=True):
            for at in replay(session):
                for call in at.calls:
                    explained.add(group, call, at.window)
        explained.fill()
        return explained

    def add(self, group: str, call: Invocation, window: Window) -> None:
        """Explain one call from what its session held when the turn that asked for it began."""
        if call.key in window.asked():
            self.repeated[call.tool].add(group)
        if not is_explained(call):
            return
        used = _used(call, window)
        explanations = {name: self._weighed(call, name, used, window) for name in call.arguments}
        occurrence = Occurrence(group, explanations)
        self.occurrences[call.tool, tuple(sorted(call.arguments))].append(occurrence)
        self._part(call, occurrence, window)

    def templates(self) -> list[AnyTemplate]:
        """The templates that explain the calls."""
        found: list[AnyTemplate] = [
            Repeat(tool) for tool, groups in self.repeated.items() if len(groups) >= LEAST_GROUPS
        ]
        for (tool, names), occurrences in self.occurrences.items():
            found += self._cover(tool, names, occurrences)
        return found

    def fill(self) -> None:
        """Explain arguments by texts with several holes, once all calls were added."""
        for (_, name, skeleton), holed in self._holed.items():
            groups = [occurrence.group for occurrence in holed.occurrences]
            for fillers, weights in _together(holed.fillers, groups, _FILLERS_KEPT, _FILLED_KEPT):
                mapper = Filled(skeleton, tuple(zip(NAMES, fillers, strict=False)))
                self.mappers[mapper] = mapper
                for at, weight in weights.items():
                    holed.occurrences[at].explanations[name][mapper] = weight

    def _weighed(self, call: Invocation, name: str, used: list[Json], window: Window) -> dict[Hashable, float]:
        argument, weights = call.arguments[name], dict[Hashable, float]()
        for mapper in chain(_more(call, name, window), explain(argument, window)):
            rank = rank_of(argument, mapper.values(window), used)
            if rank is not None:
                key = canonical_text(mapper.value) if isinstance(mapper, Constant) else mapper
                self.mappers.setdefault(key, mapper)
                weights[key] = 1 / (1 + rank)
        return weights

    def _part(self, call: Invocation, occurrence: Occurrence, window: Window) -> None:
        """Explain what fills the skeletons of its texts; one that stands somewhere as a whole needs none."""
        known: dict[str, dict[Filler, float]] = {}
        for name, text in call.arguments.items():
            if any(isinstance(key, Mapper) and not key.frame for key in occurrence.explanations[name]):
                continue
            for parted in self.skeletons.of_text(call.tool, name, text) if isinstance(text, str) else ():
                for value in parted.values:
                    if value not in known:
                        known[value] = explain_hole(value, window)
                    if not known[value]:
                        break
                else:
                    holed = self._holed[call.tool, name, parted.skeleton]
                    holed.occurrences.append(occurrence)
                    holed.fillers.append([known[value] for value in parted.values])

    def _cover(self, tool: str, names: tuple[str, ...], occurrences: list[Occurrence]) -> Iterator[Template]:
        groups = [occurrence.group for occurrence in occurrences]
        if not names:
            if len(set(groups)) >= LEAST_GROUPS:
                yield Template(tool, ())
            return
        given = [[occurrence.explanations[name] for name in names] for occurrence in occurrences]
        for joint, _ in _together(given, groups, _MAPPERS_KEPT, _TEMPLATES_KEPT):
            yield Template(tool, tuple((name, self.mappers[key]) for name, key in zip(names, joint, strict=True)))


def is_explained(call: Invocation) -> bool:
    """Whether it is looked for where the arguments of a call come from."""
    return len(call.arguments) <= MOST_ARGUMENTS and not is_long(call)


def _more(call: Invocation, name: str, window: Window) -> Iterator[AnyMapper]:
    """What explains an argument that stands nowhere as it is."""
    yield from explain_step(call, name, window)
    yield from explain_relative(call.arguments[name], window)


def _used(call: Invocation, window: Window) -> list[Json]:
    """The values that earlier calls of a tool with a single argument used up: candidates leave them out."""
    if len(call.arguments) != 1:
        return []
    earlier = (seen.invocation for seen in window.observations if seen.tool == call.tool)
    made = [one.arguments for one in earlier if one is not None and one.arguments.keys() == call.arguments.keys()]
    return [value for arguments in made for value in arguments.values()]


def _together(
    given: Sequence[Sequence[Mapping[Name, float]]], groups: list[str], each: int, most: int
) -> Iterator[tuple[tuple[Name, ...], Mapping[int, float]]]:
    """The joint explanations that cover best, at most `most`, with where and how well each of them does.

    Args:
        given: by occurrence and place, the explanations and how well they do.
        each: the most explanations of one place that are joined.
    """
    kept = [set(greedy(_covering(place), groups, each)) for place in zip(*given, strict=True)]
    source_of = {key: _stepping(key) for keys in kept for key in keys}
    tried = min(_JOINT_TRIED, _JOINT_WORK // len(kept))
    covering: dict[tuple[Name, ...], dict[int, float]] = defaultdict(dict)
    for at, places in enumerate(given):
        options = [[key for key in keys if key in known] for keys, known in zip(places, kept, strict=True)]
        for joint in islice(product(*options), tried):
            covering[joint][at] = _jointly(joint, places, source_of)
    return ((joint, covering[joint]) for joint in greedy(covering, groups, most))


def _covering(weighed: Iterable[Mapping[Name, float]]) -> dict[Name, dict[int, float]]:
    covering: dict[Name, dict[int, float]] = defaultdict(dict)
    for at, weights in enumerate(weighed):
        for key, weight in weights.items():
            covering[key][at] = weight
    return covering


def _jointly(
    joint: tuple[Name, ...], given: Sequence[Mapping[Name, float]], source_of: Mapping[Name, Hashable]
) -> float:
    """How well mappers do together: those that read one kind of event move along its rows in step."""
    by_source: dict[Hashable, float] = {}
    for key, weights in zip(joint, given, strict=True):
        source = source_of[key]
        by_source[source] = min(by_source.get(source, 1.0), weights[key])
    return prod(by_source.values())


def _stepping(key: Hashable) -> Hashable:
    """What moves in step with a mapper: all that read the kind of event that it reads."""
    return replace(key.source, each=False) if isinstance(key, Mapper) else key


def greedy(covering: Mapping[Name, Mapping[int, float]], groups: list[str], most: int) -> Iterator[Name]:
    """Those that cover best, where what is covered already counts half as much each time; among equals
    the one met first, which comes from the latest event."""
    left = {name: at for name, at in covering.items() if len({groups[one] for one in at}) >= LEAST_GROUPS}
    need = [1.0] * len(groups)
    for _ in range(most):
        gains = {name: sum(need[at] * weight for at, weight in left[name].items()) for name in left}
        best = max(gains, key=lambda name: gains[name], default=None)
        if best is None or gains[best] < _LEAST_GAIN:
            return
        yield best
        for at, weight in left.pop(best).items():
            need[at] *= 1 - weight / 2
