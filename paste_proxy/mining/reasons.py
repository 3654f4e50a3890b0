"""Why something is a candidate: the patterns that give it, where its arguments come from, and a model's traits."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from paste_proxy.events.candidate import Candidate
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.values import Json
from paste_proxy.mining.algebra import AnyMapper
from paste_proxy.mining.contexts import suffixes
from paste_proxy.mining.estimate import Count
from paste_proxy.mining.filled import Filled
from paste_proxy.mining.forecast.model import Model, Weighed
from paste_proxy.mining.forms import same
from paste_proxy.mining.mappers import Constant
from paste_proxy.mining.notation import written_mapper
from paste_proxy.mining.outlook import Outlook
from paste_proxy.mining.pattern import Pattern
from paste_proxy.mining.pool import Pool
from paste_proxy.mining.sources import Source, origins
from paste_proxy.mining.templates import Repeat, Template, bindings
from paste_proxy.mining.window import ANY, CALL, OUTPUT, Observation, Window

_PATTERNS = 3
_TRAITS = 4
_LEAST_TRAIT = 0.05
JUDGED = "judged"
"""Stands for a trait where a model's judgement adds to the score."""


@dataclass(frozen=True, slots=True)
class Read:
    """What was read for an argument."""

    seen: Observation
    answer: bool
    """A call's answer, not its arguments."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """Where the value of one argument comes from."""

    name: str
    value: Json
    mapper: dict[str, Json]
    """As it is written, see `notation`; empty where the session's own earlier call is repeated."""
    read: tuple[Read, ...]
    """What it was read from, one for each hole of a text; empty for a constant."""
    alone: bool = True
    """Nothing else is known to give the argument."""


@dataclass(frozen=True, slots=True)
class Given:
    """A pattern that gives the candidate now."""

    pattern: Pattern
    rank: int
    """Which of its bindings the candidate is, from 0."""
    context: str
    """The longest one of the session's now in which this binding was seen."""
    count: Count
    """What became of it there."""
    arguments: tuple[Drawn, ...]


@dataclass(frozen=True, slots=True)
class Weight:
    """A trait of the candidate that others found here do not share, and what it adds to the score of the next call."""

    trait: str
    value: float
    weight: float

    @property
    def adds(self) -> float:
        """Value times weight."""
        return self.value * self.weight


@dataclass(frozen=True, slots=True)
class Reasons:
    """All that speaks for and against a candidate."""

    given: tuple[Given, ...] = ()
    """By patterns, the one that counts first."""
    pros: tuple[Weight, ...] = ()
    """The strongest first."""
    cons: tuple[Weight, ...] = ()
    argued: tuple[Drawn, ...] = ()
    """Where no pattern gives it: how its arguments could have been come by."""
    earlier: Observation | None = None
    """The session's own latest call of the same."""


class Moment:
    """A session as it stands, in the light of a pool.

    Args:
        executable: tools that are predicted.
    """

    def __init__(self, pool: Pool, window: Window, executable: Callable[[str], bool] = lambda tool: True) -> None:
        self._pool, self._window = pool, window
        self._templates = [one.template for one in pool.patterns if isinstance(one.template, Template)]
        self._weighed = [(model, model.weigh(window, executable)) for model in pool.models]

    def reasons(self, candidate: Candidate) -> Reasons:
        """Why this is a candidate now."""
        invocation = candidate.invocation
        found = self._found(candidate)
        outlooks = [self._pool.outlook, *([found[0].finder.outlook] if found else [])]
        every = (given for outlook in outlooks for given in self._given(outlook, invocation))
        given = tuple(sorted(every, key=lambda one: one.pattern.id != candidate.source))[:_PATTERNS]
        weights = sorted(_telling(*found), key=lambda one: one.adds) if found else []
        return Reasons(
            given,
            tuple(one for one in reversed(weights[-_TRAITS:]) if one.adds >= _LEAST_TRAIT),
            tuple(one for one in weights[:_TRAITS] if one.adds <= -_LEAST_TRAIT),
            () if given or not found else tuple(self._argued(found[0], invocation)),
            self._earlier(invocation),
        )

    def _found(self, candidate: Candidate) -> tuple[Model, Weighed, Sequence[Weighed]] | None:
        """The model that gives the candidate, likeliest where several do, and all that it found."""
        of_each = [
            (one[0], model, one, weighed)
            for model, weighed in self._weighed
            for one in weighed
            if one[1].invocation.key == candidate.invocation.key
        ]
        return max(of_each, key=lambda one: one[0])[1:] if of_each else None

    def _given(self, outlook: Outlook, invocation: Invocation) -> Iterator[Given]:
        contexts = suffixes(self._window.context())
        for expected in outlook.expected(contexts):
            template = expected.pattern.template
            if template.tool != invocation.tool:
                continue
            keys = [one.key for one in bindings(template, self._window, len(expected.odds))]
            if invocation.key in keys:
                rank = keys.index(invocation.key)
                counts = expected.pattern.ranks[rank]
                context = next((one for one in reversed(contexts) if one in counts), "")
                drawn = () if isinstance(template, Repeat) else self._drawn(template, invocation)
                yield Given(expected.pattern, rank, context, counts.get(context, Count()), tuple(drawn))

    def _drawn(self, template: Template, invocation: Invocation) -> Iterator[Drawn]:
        others = [dict(one.arguments) for one in self._templates if one.tool == template.tool]
        for name, mapper in template.arguments:
            value = invocation.arguments.get(name)
            alone = all(one.get(name, mapper) == mapper for one in others)
            yield Drawn(name, value, written_mapper(mapper), tuple(self._read_from(mapper, value)), alone)

    def _read_from(self, mapper: AnyMapper, value: Json) -> Iterator[Read]:
        match mapper:
            case Constant():
                return
            case Filled(holes=holes):
                for _, hole in holes:
                    fills = (one.value for one in hole.values(self._window))
                    filled = next((one for one in fills if isinstance(one, str) and one in str(value)), None)
                    yield from self._read_from(hole, filled)
            case _:
                held = [seen for seen in reversed(self._window.observations) if _holds(seen, mapper.source)]
                alone = (seen for seen in held if self._gives(mapper, seen, value))
                if (seen := next(alone, held[0] if held else None)) is not None:
                    yield Read(seen, mapper.source.origin == OUTPUT)

    def _gives(self, mapper: AnyMapper, seen: Observation, value: Json) -> bool:
        """Whether an observation would do."""
        alone = self._window.fork()
        alone.lasting.clear()
        alone.observations.clear()
        alone.observations.append(seen)
        return any(same(bound.value, value) for bound in mapper.values(alone))

    def _argued(self, model: Model, invocation: Invocation) -> Iterator[Drawn]:
        """By the first mapper of each argument that gives its value now, else as a constant."""
        for name, value in invocation.arguments.items():
            slot = model.finder.arguments.slots.get((invocation.tool, name))
            if slot is None:
                continue
            mappers = (mapper for _, mapper in slot.mappers)
            giving = (one for one in mappers if any(same(bound.value, value) for bound in one.values(self._window)))
            if (mapper := next(giving, None)) is not None:
                yield Drawn(name, value, written_mapper(mapper), tuple(self._read_from(mapper, value)))
            elif any(same(constant.value, value) for constant in slot.constants):
                yield Drawn(
                    name, value, written_mapper(Constant(value)), (), len(slot.constants) + len(slot.mappers) == 1
                )

    def _earlier(self, invocation: Invocation) -> Observation | None:
        calls = (seen for seen in reversed(self._window.observations) if seen.invocation is not None)
        return next((seen for seen in calls if seen.invocation and seen.invocation.key == invocation.key), None)


def _holds(seen: Observation, source: Source) -> bool:
    """Whether a source, were it to mean each of its events, means this one."""
    return any(origin.origin == source.origin and origin.tool == source.tool for origin, _ in origins(seen)) or (
        source.origin == CALL and source.tool in (ANY, seen.tool) and seen.asked is not None
    )


def _telling(model: Model, own: Weighed, found: Sequence[Weighed]) -> Iterator[Weight]:
    """Its traits, without those that everything found has alike: they decide nothing. Then what its measures add."""
    common = set.intersection(*(set(told) for _, _, told in found)) if len(found) > 1 else set()
    for trait, value in own[2]:
        if (trait, value) not in common and trait in model.next:
            yield Weight(trait, value, model.next[trait])
    yield Weight(JUDGED, own[1].soon, 1.0)
