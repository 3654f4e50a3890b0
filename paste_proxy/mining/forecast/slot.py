"""One argument of one tool: where its values come from, and how likely each of those that stand there is.

Every value that a mapper, a known phrase or a constant gives is an option. An option carries marks, which say
how it was found and how it looks:

    MAPPER#RANK        it is the mapper's value of that rank, 4 for more; MAPPER#RANK@OUTCOME: after that outcome
    MAPPER#only        it is the mapper's only value
    constant#RANK      it is a constant of that rank; share#TENTHS: asked for in so many tenths of the calls
    VALUE&STEM         the constant VALUE where the user says STEM
    phrase#RANK        the user's words stand for it
    used#AGE           the argument was given it so many calls of the tool ago; used#never
    like#LIKENESS, kin#KINSHIP    see `likeness`; the likeness also coarsely, without endings

The odds of an option are those of a softmax over the sums of the weights of its marks.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from math import exp
from operator import is_
from typing import Any, Generic, TypeGuard, TypeVar

from paste_proxy.events.values import Json, canonical_text
from paste_proxy.mining.algebra import LiveMapper
from paste_proxy.mining.contexts import outcome
from paste_proxy.mining.forecast.likeness import coarsely, kinship, last_path, likeness
from paste_proxy.mining.forecast.situation import stems
from paste_proxy.mining.window import CALL, USER, Window

_WAYS = 6
_RANKS = 4
_OF_MAPPER = 5
_PHRASES_FOUND = 5
_PHRASE_CHARACTERS = 4_000
_WORDS = 60
_OUTCOMES_KEPT, _SUMS_KEPT = 64, 1_024

Marks = tuple[str, ...]
Sum = TypeVar("Sum", float, Marks)
"""What an option gathers: in the live sidecar the weights of its marks, in training the marks themselves."""
Voice = Callable[[Marks], Sum]
"""What marks add to an option."""
Table = list[tuple[list[Sum], list[Sum]]]
"""By mapper: what its values add by rank, where it has several and where it has one."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A value that was asked for in several tasks."""

    value: Json
    share: float
    """Of the tool's calls."""


@dataclass(slots=True)
class Option(Generic[Sum]):
    """A value, and the choices that led to it, one set each way."""

    value: Json
    sum: Sum
    choices: list[Mapping[str, int]] = field(default_factory=list)


Likely = tuple[float, Option[float]]
"""An option and its probability."""


@dataclass(frozen=True)
class Slot:
    """What is known of an argument."""

    tool: str
    name: str
    mappers: tuple[tuple[str, LiveMapper], ...] = ()
    """By a short text that names the mapper."""
    constants: tuple[Constant, ...] = ()
    """The most asked for first."""
    phrases: Mapping[str, Json] = field(default_factory=dict)
    """What the user's words stand for: `new york` for `JFK`."""
    enumerated: bool = False
    """A few constants are nearly all it is given; the user's words choose among them."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """By mark."""
    covered: float = 0.5
    """How often the value asked for is among the options."""

    def likely(self, window: Window, most: int) -> list[Likely]:
        """The `most` likeliest options and their probabilities, the likeliest first."""
        return self.every(window)[:most]

    def every(self, window: Window) -> list[Likely]:
        """All of them; the same list as long as nothing that they depend on changes."""
        after = self._known_outcome(outcome(window.context()[-1]))
        kept: tuple[object, Any, Any] | None = window.lasting.get(id(self))
        moment = self._moment(window)
        if kept is None or kept[0] is not self or not all(map(is_, kept[1], moment)):
            kept = window.lasting[id(self)] = self, moment, {}
        known: dict[tuple[str, str], list[Likely]] = kept[2]
        place = last_path(window)
        found = known.get((after, ""), known.get((after, place)))
        if found is None:
            found = self._weighed(options(self, window, self._weigh, self._table(after), self._constants, self._stems))
            if len(known) >= _OUTCOMES_KEPT:
                known.clear()
            known[after, place if any(_is_path(option.value) for _, option in found) else ""] = found
        return found

    def _moment(self, window: Window) -> list[object]:
        """What its options depend on besides the latest outcome and, if there are paths among them, the latest path."""
        moment: list[object] = [mapper.values(window) for _, mapper in self.mappers]
        return [*moment, _used(self, window), window.bearings.stamp, window.stamps.get((USER, ""))]

    def _weighed(self, found: list[Option[float]]) -> list[Likely]:
        if not found:
            return []
        highest = max(option.sum for option in found)
        masses = [(exp(option.sum - highest), option) for option in found]
        whole = sum(mass for mass, _ in masses) / self.covered
        masses.sort(key=lambda one: -one[0])
        return [(mass / whole, option) for mass, option in masses]

    def warm(self) -> None:
        """Build what is built on first use."""
        self._table("")
        self._constants  # noqa: B018
        self._stems  # noqa: B018

    def _table(self, after: str) -> Table[float]:
        """What mappers add after an outcome; after all that no mark names, the same."""
        after = self._known_outcome(after)
        table = self._tables.get(after)
        if table is None:
            if len(self._tables) >= _OUTCOMES_KEPT:
                self._tables.clear()
            table = self._tables[after] = mapper_table(self, after, self._weigh)
        return table

    def _known_outcome(self, after: str) -> str:
        return after if after in self._outcomes else ""

    @cached_property
    def _tables(self) -> dict[str, Table[float]]:
        return {}

    @cached_property
    def _outcomes(self) -> frozenset[str]:
        """Those that marks name, and whatever else follows an `@`."""
        parted = (mark.split("@") for mark in self.weights if "@" in mark)
        return frozenset("@".join(parts[at:]) for parts in parted for at in range(1, len(parts)))

    @cached_property
    def _sums(self) -> dict[Marks, float]:
        """What marks met last add up to."""
        return {}

    @cached_property
    def _constants(self) -> list[tuple[Json, float]]:
        return constant_sums(self.constants, self._weigh)

    @cached_property
    def _stems(self) -> frozenset[str]:
        return frozenset(mark.rpartition("&")[2] for mark in self.weights if "&" in mark)

    def _weigh(self, marks: Marks) -> float:
        known = self._sums.get(marks)
        if known is None:
            if len(self._sums) >= _SUMS_KEPT:
                self._sums.clear()
            weights = self.weights
            known = self._sums[marks] = sum([weights.get(mark, 0.0) for mark in marks])
        return known


def mapper_table(slot: Slot, after: str, voice: Voice[Sum]) -> Table[Sum]:
    """What the values of each mapper add after an outcome."""
    table: Table[Sum] = []
    for name, _ in slot.mappers:
        ranks: list[Marks] = [
            (f"{name}#{rank}", f"{name}#{rank}@{after}") if rank < 2 else (f"{name}#{rank}",)
            for rank in range(_RANKS + 1)
        ]
        table.append(([voice(marks) for marks in ranks], [voice((*ranks[0], f"{name}#only"))]))
    return table


def constant_sums(constants: Sequence[Constant], voice: Voice[Sum]) -> list[tuple[Json, Sum]]:
    """What each constant adds."""
    return [
        (constant.value, voice((f"constant#{rank}", f"share#{int(constant.share * 10)}")))
        for rank, constant in enumerate(constants)
    ]


def options(
    slot: Slot,
    window: Window,
    voice: Voice[Sum],
    table: Table[Sum],
    constants: Sequence[tuple[Json, Sum]],
    known_stems: frozenset[str] | None = None,
) -> list[Option[Sum]]:
    """The distinct values that an argument may take now, with what its marks add up to.

    Args:
        table: `mapper_table` of the slot after the latest outcome.
        constants: `constant_sums`.
        known_stems: those that tell anything; None for all.
    """
    some = _Options[Sum]()
    _from_mappers(some, slot, window, table)
    _from_pool(some, slot, window, voice, constants, known_stems)
    used, place = _used(slot, window), last_path(window)
    for key, option in some.found.items():
        like = likeness(option.value)
        marks: Marks = f"used#{used.get(key, 'never')}", f"like#{like}", f"like#{coarsely(like)}"
        if place and _is_path(option.value):
            marks = *marks, f"kin#{kinship(option.value, place)}"
        option.sum = option.sum + voice(marks)
    return list(some.found.values())


class _Options(Generic[Sum]):
    """Options by the identity of their values."""

    def __init__(self) -> None:
        self.found: dict[object, Option[Sum]] = {}

    def add(self, value: Json, more: Sum) -> Option[Sum]:
        key = value if type(value) is str else identity(value)
        option = self.found.get(key)
        if option is None:
            option = self.found[key] = Option(value, more)
        else:
            option.sum = option.sum + more
        return option


def _from_mappers(some: _Options[Sum], slot: Slot, window: Window, table: Table[Sum]) -> None:
    for (_, mapper), (several, only) in zip(slot.mappers, table, strict=True):
        given = mapper.values(window)
        sums = only if len(given) == 1 else several
        framed = mapper.frame[:1] == "/"
        for rank, bound in enumerate(given[:_OF_MAPPER]):
            if framed and window.bearings.here(bound.value) != bound.value:
                continue
            choices = some.add(bound.value, sums[rank if rank < _RANKS else _RANKS]).choices
            if bound.choices and len(choices) < _WAYS and bound.choices not in choices:
                choices.append(bound.choices)


def _from_pool(
    some: _Options[Sum],
    slot: Slot,
    window: Window,
    voice: Voice[Sum],
    constants: Sequence[tuple[Json, Sum]],
    known_stems: frozenset[str] | None,
) -> None:
    """What the pool knows, where it is of this session's folders."""
    words = _words(window, known_stems) if slot.enumerated else ()
    for value, more in constants:
        here = window.bearings.here(value)
        if here is not None or value is None:
            option = some.add(here, more)
            if words:
                option.sum = option.sum + voice(tuple([f"{value}&{word}" for word in words]))
    for rank, value in enumerate(_meant(slot.phrases, window)):
        here = window.bearings.here(value)
        if here is not None:
            some.add(here, voice((f"phrase#{rank}",)))


def _is_path(value: Json) -> TypeGuard[str]:
    return isinstance(value, str) and "/" in value


def identity(value: Json) -> object:
    """What tells values apart as arguments: `1`, `1.0`, `true` and `"1"` are four."""
    if isinstance(value, str):
        return value
    return (type(value), canonical_text(value) if isinstance(value, list | dict) else value)


def _words(window: Window, known: frozenset[str] | None) -> tuple[str, ...]:
    said = next((seen.said for seen in reversed(window.observations) if seen.kind == USER and seen.said), None)
    words = stems(said.text()[:_PHRASE_CHARACTERS], _WORDS) if said is not None else ()
    return words if known is None else tuple(word for word in words if word in known)


def _used(slot: Slot, window: Window) -> dict[object, str]:
    """How long ago the session gave the argument each value, in calls of the tool."""
    name, stamp = ("used", slot.tool, slot.name), window.stamps.get((CALL, slot.tool))
    kept = window.lasting.get(name)
    if kept is None or kept[1] != stamp:
        kept = window.lasting[name] = slot, stamp, _ages(slot, window)
    ages: dict[object, str] = kept[2]
    return ages


def _ages(slot: Slot, window: Window) -> dict[object, str]:
    found: dict[object, str] = {}
    age = 0
    for seen in reversed(window.observations):
        if seen.kind == CALL and seen.tool == slot.tool and seen.invocation is not None:
            arguments = seen.invocation.arguments
            if slot.name in arguments:
                found.setdefault(identity(arguments[slot.name]), str(age) if age < 2 else "few" if age < 5 else "many")
            age += 1
    return found


def _meant(phrases: Mapping[str, Json], window: Window) -> list[Json]:
    """What the user's phrases stand for, those of the last message first, each in the order it is said."""
    if not phrases:
        return []
    stamp = window.stamps.get((USER, ""))
    kept = window.lasting.get(id(phrases))
    if kept is None or kept[0] is not phrases or kept[1] != stamp:
        kept = window.lasting[id(phrases)] = phrases, stamp, _look_up(phrases, window)
    meant: list[Json] = kept[2]
    return meant


def _look_up(phrases: Mapping[str, Json], window: Window) -> list[Json]:
    found: dict[object, Json] = {}
    for seen in reversed(window.observations):
        if seen.kind != USER or seen.said is None:
            continue
        places = phrases_of(seen.said.text()[:_PHRASE_CHARACTERS])
        fewer, more = (phrases, places) if len(phrases) < len(places) else (places, phrases)
        for phrase in sorted([phrase for phrase in fewer if phrase in more], key=places.__getitem__):
            found.setdefault(identity(phrases[phrase]), phrases[phrase])
        if len(found) >= _PHRASES_FOUND:
            break
    return list(found.values())[:_PHRASES_FOUND]


@lru_cache(maxsize=64)
def phrases_of(text: str) -> dict[str, int]:
    """The phrases of a text that may stand for a value, words and runs of up to three, with where each comes first."""
    words = [word.strip(".,;:!?\"'()").lower() for word in text.split()]
    runs = (words[at : at + length] for at in range(len(words)) for length in (3, 2, 1) if at + length <= len(words))
    return {phrase: place for place, phrase in enumerate(dict.fromkeys(" ".join(run) for run in runs if run[0]))}
