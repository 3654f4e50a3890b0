"""One argument of one tool: where its values come from, and how likely each of those that stand there is.

Every value that a mapper, a known phrase or a constant gives is an option. An option carries marks, which
say how it was found; the odds of an option follow from the weights of its marks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import exp

from paste_proxy.events.values import Json, canonical_text
from paste_proxy.mining.contexts import outcome
from paste_proxy.mining.forecast.likeness import kinship, last_path, likeness
from paste_proxy.mining.forecast.situation import stems
from paste_proxy.mining.mappers import Mapper
from paste_proxy.mining.window import CALL, USER, Window

_WAYS = 6
_RANKS = 4
"""From this rank on the values of a mapper share their marks."""
_MOST_OF_MAPPER = 8
_PHRASES_FOUND = 5
_PHRASE_CHARACTERS = 4_000
_WORDS = 60


@dataclass(frozen=True, slots=True)
class Constant:
    """A value that was asked for in several tasks."""

    value: Json
    share: float
    """Of the tool's calls."""


@dataclass(slots=True)
class Option:
    """A value, how it was found, and the choices that led there, one set each way."""

    value: Json
    marks: list[str] = field(default_factory=list)
    choices: list[Mapping[str, int]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Slot:
    """What is known of an argument."""

    tool: str
    name: str
    mappers: tuple[tuple[str, Mapper], ...] = ()
    """By a short text that names the mapper."""
    constants: tuple[Constant, ...] = ()
    """The most asked for first."""
    phrases: Mapping[str, Json] = field(default_factory=dict)
    """What the user's words stand for: `new york` for `JFK`."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """By mark."""
    enumerated: bool = False
    """A few constants are nearly all it is given; the user's words choose among them."""
    covered: float = 0.5
    """How often the value asked for is among the options."""

    def likely(self, window: Window, most: int) -> list[tuple[float, Option]]:
        """The `most` likeliest options and their probabilities, the likeliest first."""
        weights = self.weights
        scored = [
            (sum(weights.get(mark, 0.0) for mark in option.marks), option)
            for option in options(self, window, self.constants)
        ]
        if not scored:
            return []
        highest = max(score for score, _ in scored)
        masses = [(exp(score - highest), option) for score, option in scored]
        whole = sum(mass for mass, _ in masses)
        masses.sort(key=lambda one: -one[0])
        return [(self.covered * mass / whole, option) for mass, option in masses[:most]]


def options(slot: Slot, window: Window, constants: Sequence[Constant]) -> list[Option]:
    """The distinct values that an argument may take now."""
    found: dict[object, Option] = {}
    after = outcome(window.context()[-1])
    for name, mapper in slot.mappers:
        given = mapper.values(window)
        for rank, bound in enumerate(given[:_MOST_OF_MAPPER]):
            option = _option(found, bound.value)
            if bound.choices not in option.choices and len(option.choices) < _WAYS:
                option.choices.append(bound.choices)
            mark = f"{name}#{min(rank, _RANKS)}"
            option.marks.append(mark)
            if rank < 2:
                option.marks.append(f"{mark}@{after}")
            if len(given) == 1:
                option.marks.append(f"{name}#only")
    words = _words(window) if slot.enumerated else ()
    for rank, constant in enumerate(constants):
        option = _option(found, _here(constant.value, window))
        option.marks.append(f"constant#{rank}")
        option.marks.append(f"share#{int(constant.share * 10)}")
        option.marks += (f"{constant.value}&{word}" for word in words)
    for rank, value in enumerate(_meant(slot.phrases, window)):
        _option(found, _here(value, window)).marks.append(f"phrase#{rank}")
    used = _used(slot, window)
    place = last_path(window)
    for key, option in found.items():
        option.marks.append(f"used#{used.get(key, 'never')}")
        option.marks.append(f"like#{likeness(option.value)}")
        if place and isinstance(option.value, str) and "/" in option.value:
            option.marks.append(f"kin#{kinship(option.value, place)}")
    return list(found.values())


def _option(found: dict[object, Option], value: Json) -> Option:
    key = identity(value)
    option = found.get(key)
    if option is None:
        option = found[key] = Option(value)
    return option


def _here(value: Json, window: Window) -> Json:
    """A path known from elsewhere, in this session's folders."""
    if isinstance(value, str) and value.startswith("/"):
        return window.bearings.whole(value) or value
    return value


def _words(window: Window) -> tuple[str, ...]:
    said = next((seen.said for seen in reversed(window.observations) if seen.kind == USER and seen.said), None)
    return stems(said.text()[:_PHRASE_CHARACTERS], _WORDS) if said is not None else ()


def identity(value: Json) -> object:
    """What tells values apart as arguments: `1`, `1.0`, `true` and `"1"` are four."""
    if isinstance(value, str):
        return value
    return (type(value), canonical_text(value) if isinstance(value, list | dict) else value)


def _used(slot: Slot, window: Window) -> dict[object, str]:
    """How long ago the session gave the argument each value, in calls of the tool."""
    kept: dict[object, str] | None = window.memo.get(("used", slot.tool, slot.name))
    if kept is not None:
        return kept
    found: dict[object, str] = {}
    age = 0
    for seen in reversed(window.observations):
        if seen.kind == CALL and seen.tool == slot.tool and seen.invocation is not None:
            arguments = seen.invocation.arguments
            if slot.name in arguments:
                found.setdefault(identity(arguments[slot.name]), str(age) if age < 2 else "few" if age < 5 else "many")
            age += 1
    window.memo["used", slot.tool, slot.name] = found
    return found


def _meant(phrases: Mapping[str, Json], window: Window) -> list[Json]:
    """What the user's phrases stand for, those of the last message first, each in the order it is said."""
    if not phrases:
        return []
    found: dict[object, Json] = {}
    for seen in reversed(window.observations):
        if seen.kind != USER or seen.said is None:
            continue
        for phrase in phrases_of(seen.said.text()[:_PHRASE_CHARACTERS]):
            if phrase in phrases:
                found.setdefault(identity(phrases[phrase]), phrases[phrase])
        if len(found) >= _PHRASES_FOUND:
            break
    return list(found.values())[:_PHRASES_FOUND]


def named(mapper: Mapper) -> str:
    """A short text that names a mapper."""
    source = mapper.source
    parts = [source.origin, source.tool, "each" if source.each else "", mapper.take, mapper.form, mapper.frame]
    return "|".join([*parts, "last" if mapper.last else ""])


def kind_of(mapper: Mapper) -> str:
    """What a mapper has in common with those of other tools and places."""
    source = mapper.source
    take = "/" if mapper.take.startswith("/") else mapper.take.partition(":")[0]
    each, last = "each" if source.each else "", "last" if mapper.last else ""
    return f"{source.origin}|{'*' if source.tool == '*' else ''}|{each}|{take}|{bool(mapper.frame)}|{last}"


@lru_cache(maxsize=256)
def phrases_of(text: str) -> tuple[str, ...]:
    """The phrases of a text that may stand for a value: words and runs of up to three, distinct, in order."""
    words = [word.strip(".,;:!?\"'()").lower() for word in text.split()]
    runs = (words[at : at + length] for at in range(len(words)) for length in (3, 2, 1) if at + length <= len(words))
    return tuple(dict.fromkeys(" ".join(run) for run in runs if run[0]))
