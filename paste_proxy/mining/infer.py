"""Pass two: which mappers explain the arguments a tool was called with (PASTE 4.1).

Every argument of every recorded call is looked up in what its session held just before. Mappers that
explain it in at least two task groups are kept, and combined into templates: a greedy multi-cover of the
tool's calls, so that one call is explained by templates of different reach. A mapper covers a call the
better the earlier it gives the right value: one that names the value beats one that lists it among others.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice, product
from math import prod
from typing import TypeVar

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.values import Json, canonical_text
from paste_proxy.mining.forms import LISTED, form_between, same, unframed
from paste_proxy.mining.mappers import AnyMapper, Bound, Constant, Mapper
from paste_proxy.mining.material import FILE, Found, Material
from paste_proxy.mining.sources import Source, origins
from paste_proxy.mining.templates import AnyTemplate, Repeat, Template
from paste_proxy.mining.window import Window

LEAST_GROUPS = 2
"""Task groups a mapper or template must be seen in."""
_MAPPERS_KEPT = 14
_JOINT_TRIED = 400
_TEMPLATES_KEPT = 24
_LEAST_GAIN = 0.5
_LONGEST_CONSTANT = 200

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
class Explained:
    """All recorded calls, by shape."""

    occurrences: dict[Shape, list[Occurrence]] = field(default_factory=lambda: defaultdict(list))
    repeated: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Groups that asked for the same invocation of a tool again."""
    mappers: dict[Hashable, AnyMapper] = field(default_factory=dict)
    """By key."""

    def add(self, group: str, call: Invocation, window: Window) -> None:
        """Explain one call from what its session held when the turn that asked for it began."""
        used = _used(call, window)
        explanations = {name: self._weighed(value, used, window) for name, value in call.arguments.items()}
        self.occurrences[call.tool, tuple(sorted(call.arguments))].append(Occurrence(group, explanations))
        if call.key in window.asked():
            self.repeated[call.tool].add(group)

    def templates(self) -> list[AnyTemplate]:
        """The templates that explain the calls."""
        found: list[AnyTemplate] = [
            Repeat(tool) for tool, groups in self.repeated.items() if len(groups) >= LEAST_GROUPS
        ]
        for (tool, names), occurrences in self.occurrences.items():
            found += self._cover(tool, names, occurrences)
        return found

    def _weighed(self, argument: Json, used: list[Json], window: Window) -> dict[Hashable, float]:
        weights: dict[Hashable, float] = {}
        for mapper in explain(argument, window):
            rank = _rank(argument, mapper.values(window), used)
            if rank is not None:
                key = canonical_text(mapper.value) if isinstance(mapper, Constant) else mapper
                self.mappers.setdefault(key, mapper)
                weights[key] = 1 / (1 + rank)
        return weights

    def _cover(self, tool: str, names: tuple[str, ...], occurrences: list[Occurrence]) -> Iterator[Template]:
        groups = [occurrence.group for occurrence in occurrences]
        if not names:
            if len(set(groups)) >= LEAST_GROUPS:
                yield Template(tool, ())
            return
        kept = [set(greedy(_covering(name, occurrences), groups, _MAPPERS_KEPT)) for name in names]
        covering: dict[tuple[Hashable, ...], dict[int, float]] = defaultdict(dict)
        for at, occurrence in enumerate(occurrences):
            given = [occurrence.explanations[name] for name in names]
            options = [[key for key in keys if key in known] for keys, known in zip(given, kept, strict=True)]
            for joint in islice(product(*options), _JOINT_TRIED):
                covering[joint][at] = _jointly(joint, given)
        for joint in greedy(covering, groups, _TEMPLATES_KEPT):
            yield Template(tool, tuple((name, self.mappers[key]) for name, key in zip(names, joint, strict=True)))


def explain(argument: Json, window: Window) -> Iterator[AnyMapper]:
    """Every mapper that gives an argument from what a session holds, and its constant."""
    found: dict[Mapper, None] = {}
    for frame, wanted in unframed(argument):
        if wanted is None or wanted == "":
            continue
        seen: set[Source] = set()
        for observation in reversed(window.observations):
            for source, material in origins(observation):
                for take, form, last in _takes(wanted, material, exact=bool(frame)):
                    if source not in seen:
                        found[Mapper(source, take, form, frame, last)] = None
                    found[Mapper(replace(source, each=True), take, form, frame, last)] = None
                seen.add(source)
    yield from found
    if len(canonical_text(argument)) <= _LONGEST_CONSTANT:
        yield Constant(argument)


def _takes(wanted: Json, material: Material, *, exact: bool) -> Iterator[tuple[str, str, bool]]:
    """How a material gives a value: take, form, and whether it is the last of several."""
    for take, place in _places(wanted, material):
        form = form_between(place.value, wanted)
        if form is None or (exact and form):
            continue
        yield take, form, False
        taken = material.take(take)
        if len(taken) > 1 and taken[-1] == place:
            yield take, form, True


def _places(wanted: Json, material: Material) -> Iterator[tuple[str, Found]]:
    yield from material.takes_of(str(wanted))
    if isinstance(wanted, float) and wanted.is_integer():
        yield from material.takes_of(str(int(wanted)))
    if isinstance(wanted, str) and wanted.startswith("/") and material.mentions_part_of(wanted):
        found = Found(wanted)
        if found in material.take(FILE):
            yield FILE, found


def derivable(call: Invocation, window: Window) -> bool:
    """Whether every argument of a call stood somewhere in its session before, as it is or in a list of one."""
    return all(
        any(isinstance(mapper, Mapper) and mapper.frame in ("", LISTED) for mapper in explain(value, window))
        for value in call.arguments.values()
    )


def _used(call: Invocation, window: Window) -> list[Json]:
    """The values that earlier calls of a tool with a single argument used up: candidates leave them out."""
    if len(call.arguments) != 1:
        return []
    earlier = (seen.invocation for seen in window.observations if seen.tool == call.tool)
    made = [one.arguments for one in earlier if one is not None and one.arguments.keys() == call.arguments.keys()]
    return [value for arguments in made for value in arguments.values()]


def _rank(argument: Json, values: list[Bound], used: list[Json]) -> int | None:
    rank = 0
    for bound in values:
        if same(bound.value, argument):
            return rank
        rank += not any(same(bound.value, value) for value in used)
    return None


def _covering(name: str, occurrences: list[Occurrence]) -> dict[Hashable, dict[int, float]]:
    covering: dict[Hashable, dict[int, float]] = defaultdict(dict)
    for at, occurrence in enumerate(occurrences):
        for key, weight in occurrence.explanations[name].items():
            covering[key][at] = weight
    return covering


def _jointly(joint: tuple[Hashable, ...], given: list[dict[Hashable, float]]) -> float:
    """How well mappers do together: those that read one kind of event move along its rows in step."""
    by_source: dict[Hashable, float] = {}
    for key, weights in zip(joint, given, strict=True):
        source = replace(key.source, each=False) if isinstance(key, Mapper) else key
        by_source[source] = min(by_source.get(source, 1.0), weights[key])
    return prod(by_source.values())


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
