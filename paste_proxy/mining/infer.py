"""Pass two: which mappers explain the arguments a tool was called with (PASTE 4.1).

Every argument of every recorded call is looked up in what its session held just before. Mappers that
explain it in at least two task groups are kept, and combined into templates: a greedy multi-cover of the
tool's calls, so that a call may be explained by up to three templates of different reach.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice, product
from typing import TypeVar

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.values import Json, canonical_text
from paste_proxy.mining.forms import LISTED, form_between, unframed
from paste_proxy.mining.mappers import AnyMapper, Constant, Mapper
from paste_proxy.mining.material import Material
from paste_proxy.mining.sources import Source, origins
from paste_proxy.mining.templates import AnyTemplate, Repeat, Template
from paste_proxy.mining.window import Window

LEAST_GROUPS = 2
"""Task groups a mapper or template must be seen in."""
_MAPPERS_KEPT = 14
_JOINT_TRIED = 400
_TEMPLATES_KEPT = 24
_LEAST_GAIN = 1.0
_LONGEST_CONSTANT = 200

Name = TypeVar("Name", bound=Hashable)
Shape = tuple[str, tuple[str, ...]]
"""A tool and the names of the arguments it was called with."""


@dataclass(slots=True)
class Occurrence:
    """One recorded call and the mappers that explain each of its arguments."""

    group: str
    explanations: dict[str, list[AnyMapper]]


@dataclass(slots=True)
class Explained:
    """All recorded calls, by shape."""

    occurrences: dict[Shape, list[Occurrence]] = field(default_factory=lambda: defaultdict(list))
    repeated: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Groups that asked for the same invocation of a tool again."""

    def add(self, group: str, call: Invocation, window: Window) -> None:
        """Explain one call from what its session held when the turn that asked for it began."""
        explanations = {name: list(explain(value, window)) for name, value in call.arguments.items()}
        self.occurrences[call.tool, tuple(sorted(call.arguments))].append(Occurrence(group, explanations))
        if call.key in window.asked():
            self.repeated[call.tool].add(group)

    def templates(self) -> list[AnyTemplate]:
        """The templates that explain the calls."""
        found: list[AnyTemplate] = [
            Repeat(tool) for tool, groups in self.repeated.items() if len(groups) >= LEAST_GROUPS
        ]
        for (tool, names), occurrences in self.occurrences.items():
            found += _cover(tool, names, occurrences)
        return found


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
    for take, place in material.takes_of(str(wanted)):
        form = form_between(place.value, wanted)
        if form is None or (exact and form):
            continue
        yield take, form, False
        taken = material.take(take)
        if len(taken) > 1 and taken[-1] == place:
            yield take, form, True


def derivable(call: Invocation, window: Window) -> bool:
    """Whether every argument of a call stood somewhere in its session before, as it is or in a list of one."""
    return all(
        any(isinstance(mapper, Mapper) and mapper.frame in ("", LISTED) for mapper in explain(value, window))
        for value in call.arguments.values()
    )


def _cover(tool: str, names: tuple[str, ...], occurrences: list[Occurrence]) -> Iterator[Template]:
    if not names:
        if len({occurrence.group for occurrence in occurrences}) >= LEAST_GROUPS:
            yield Template(tool, ())
        return
    kept = [_supported(name, occurrences) for name in names]
    index = [{_key(mapper): at for at, mapper in enumerate(mappers)} for mappers in kept]
    covering: dict[tuple[int, ...], set[int]] = defaultdict(set)
    for at, occurrence in enumerate(occurrences):
        options = [
            [known[key] for mapper in occurrence.explanations[name] if (key := _key(mapper)) in known]
            for name, known in zip(names, index, strict=True)
        ]
        for joint in islice(product(*options), _JOINT_TRIED):
            covering[joint].add(at)
    groups = [occurrence.group for occurrence in occurrences]
    for joint in _greedy(covering, groups, _TEMPLATES_KEPT):
        chosen = [mappers[at] for mappers, at in zip(kept, joint, strict=True)]
        yield Template(tool, tuple(zip(names, chosen, strict=True)))


def _supported(name: str, occurrences: list[Occurrence]) -> list[AnyMapper]:
    covering: dict[Hashable, set[int]] = defaultdict(set)
    mappers: dict[Hashable, AnyMapper] = {}
    for at, occurrence in enumerate(occurrences):
        for mapper in occurrence.explanations[name]:
            key = _key(mapper)
            mappers.setdefault(key, mapper)
            covering[key].add(at)
    groups = [occurrence.group for occurrence in occurrences]
    return [mappers[key] for key in _greedy(covering, groups, _MAPPERS_KEPT)]


def _greedy(covering: Mapping[Name, set[int]], groups: list[str], most: int) -> Iterator[Name]:
    """Those that cover most, where what is covered already counts half as much each time; among equals
    the one met first, which comes from the latest event."""
    left = {name: at for name, at in covering.items() if len({groups[one] for one in at}) >= LEAST_GROUPS}
    weight = [1.0] * len(groups)
    for _ in range(most):
        best = max(left, key=lambda name: sum(weight[at] for at in left[name]), default=None)
        if best is None or sum(weight[at] for at in left[best]) < _LEAST_GAIN:
            return
        yield best
        for at in left.pop(best):
            weight[at] *= 0.5


def _key(mapper: AnyMapper) -> Hashable:
    return canonical_text(mapper.value) if isinstance(mapper, Constant) else mapper
