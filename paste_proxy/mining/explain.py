"""Which mappers give an argument, or what fills a hole of it, from what its session held just before."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.values import Json, canonical_text
from paste_proxy.mining.algebra import AnyMapper
from paste_proxy.mining.cleaned import public
from paste_proxy.mining.filled import Filler
from paste_proxy.mining.forms import LISTED, form_between, same, unframed
from paste_proxy.mining.mappers import Bound, Constant, Mapper
from paste_proxy.mining.material import FILE, WORD, Found, Material
from paste_proxy.mining.relative import relative_between
from paste_proxy.mining.sources import Source, origins
from paste_proxy.mining.steps import Step, onward, step_between
from paste_proxy.mining.window import ANY, CALL, Window

_LONGEST_CONSTANT = 200
_ANY_CALL = Source(CALL, ANY, each=True)
_RELATIVE = re.compile(r"[^\s:]*[/.][^\s:]*")
_AS_IT_IS = ("",)
_IN_A_TEXT = ("", "text")
"""Forms of what is set into a text: a number may stand there, too."""


def explain(argument: Json, window: Window) -> Iterator[AnyMapper]:
    """Every mapper that gives an argument from what a session holds, and its constant."""
    found: dict[Mapper, None] = {}
    for frame, wanted in unframed(argument):
        if wanted is not None and wanted != "" and public(frame):
            found |= dict.fromkeys(_explain(wanted, frame, _AS_IT_IS if frame else None, window))
    yield from found
    if len(canonical_text(argument)) <= _LONGEST_CONSTANT and public(argument):
        yield Constant(argument)


def explain_relative(argument: Json, window: Window) -> Iterator[Mapper]:
    """The mappers that give a path within a checkout from the absolute ones of earlier calls."""
    if not isinstance(argument, str) or argument.startswith("/") or not _RELATIVE.fullmatch(argument):
        return
    found: dict[Mapper, None] = {}
    seen: set[Source] = set()
    for observation in reversed(window.observations):
        if observation.asked is None:
            continue
        source = Source(CALL, observation.tool)
        for pointer, _, value in observation.asked.leaves():
            form = relative_between(value, argument)
            if form is not None and public(form) and public(pointer):
                if source not in seen:
                    found[Mapper(source, pointer, form)] = None
                found[Mapper(replace(source, each=True), pointer, form)] = None
                found[Mapper(_ANY_CALL, pointer, form)] = None
        seen.add(source)
    yield from found


def explain_hole(value: str, window: Window) -> dict[Filler, float]:
    """The mappers that give what fills a hole, and how early they do: 1 for the first value, 1/2 for the second..."""
    found: dict[Filler, float] = {}
    for mapper in chain(_explain(value, "", _IN_A_TEXT, window), explain_relative(value, window)):
        rank = rank_of(value, mapper.values(window))
        if rank is not None:
            found[mapper] = 1 / (1 + rank)
    return found


def explain_step(call: Invocation, name: str, window: Window) -> Iterator[Step]:
    """The steps from the values that earlier calls of the tool gave an argument to the one it has now."""
    take, source = f"/{name}", Source(CALL, call.tool)
    taken = (material.take(take) for material in replace(source, each=True).materials(window))
    earlier = [values[0].value for values in taken if values][:2]
    if not earlier:
        return
    wanted = call.arguments[name]
    if len(earlier) > 1 and same(onward(earlier[1], earlier[0]), wanted):
        yield Step(source, take)
    by = step_between(earlier[0], wanted)
    if by:
        yield Step(source, take, by)


def derivable(call: Invocation, window: Window) -> bool:
    """Whether every argument of a call stood somewhere in its session before, as it is or in a list of one."""
    return all(
        any(isinstance(mapper, Mapper) and mapper.frame in ("", LISTED) for mapper in explain(value, window))
        for value in call.arguments.values()
    )


def rank_of(wanted: Json, values: list[Bound], used: list[Json] | None = None) -> int | None:
    """Where a value stands among those that a mapper gives, leaving out those that are used up; None if nowhere."""
    rank = 0
    for bound in values:
        if same(bound.value, wanted):
            return rank
        rank += not any(same(bound.value, value) for value in used or ())
    return None


def _explain(wanted: Json, frame: str, forms: tuple[str, ...] | None, window: Window) -> Iterator[Mapper]:
    """The mappers that give a value, in forms that are allowed (None: in any), those of the latest event first."""
    seen: set[Source] = set()
    for observation in reversed(window.observations):
        for source, material in origins(observation):
            for take, form, last in _takes(wanted, material, forms):
                if source not in seen:
                    yield Mapper(source, take, form, frame, last)
                yield Mapper(replace(source, each=True), take, form, frame, last)
            seen.add(source)


def _takes(wanted: Json, material: Material, forms: tuple[str, ...] | None) -> Iterator[tuple[str, str, bool]]:
    """How a material gives a value: take, form, and whether it is the last of several."""
    for take, place in _places(wanted, material):
        if not public(take) or (take.startswith(WORD) and not public(wanted)):  # the secret itself looks otherwise
            continue
        form = form_between(place.value, wanted)
        if form is None or (forms is not None and form not in forms):
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
