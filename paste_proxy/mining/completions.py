"""What a call that the LLM is writing may come to be: late binding with some of the arguments known.

A template whose own bindings agree with what is known completes it. Where none does, its mapper of a known
argument looked in the wrong place, and the others may still be right: the known values stand in for it.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.outline import Outline
from paste_proxy.mining.mappers import Constant
from paste_proxy.mining.outlook import Expected
from paste_proxy.mining.templates import MOST_BINDINGS, AnyTemplate, Repeat, Template
from paste_proxy.mining.window import Window

_COVERED = 0.8
"""How often the call that has a name is among the completions, where patterns give any: recorded agents, held out."""
_COVERED_LATER = 0.6
"""The same once an argument is known and completions are left."""
_STOOD_IN = 0.5
"""What is left of a pattern's odds where it was wrong about an argument."""


@dataclass(frozen=True, slots=True)
class Completion:
    """What a call may come to be."""

    invocation: Invocation
    share: float
    """Probability that it does."""
    later: float
    """Probability that it is asked for later if it does not."""


def covered(outline: Outline) -> float:
    """How often the call that is being written is among what is found for it."""
    return _COVERED_LATER if outline.known else _COVERED


def shares(
    expected: Iterable[Expected], window: Window, outline: Outline, beside: Collection[str] = ()
) -> list[Completion]:
    """The distinct completions, the likeliest first.

    That the call's tool is known makes the odds of its candidates shares of a whole.

    Args:
        expected: the patterns that matter in the window's context.
        beside: keys of what the call is not.
    """
    best: dict[str, Completion] = {}
    for one in expected:
        for rank, invocation in completions(one.pattern.template, window, outline):
            next_, ever = one.odds[min(rank or 0, len(one.odds) - 1)]
            found = Completion(invocation, next_ if rank is not None else next_ * _STOOD_IN, ever - next_)
            known = best.get(invocation.key)
            if invocation.key not in beside and (known is None or found.share > known.share):
                best[invocation.key] = found
    whole = sum(one.share for one in best.values())
    ordered = sorted(best.values(), key=lambda one: (-one.share, one.invocation.key))
    return [replace(one, share=covered(outline) * one.share / whole) for one in ordered if one.share]


def completions(template: AnyTemplate, window: Window, outline: Outline) -> Iterator[tuple[int | None, Invocation]]:
    """What a template makes of the call: the rank of the binding among all of the template, and the invocation.

    The rank is None where the known values had to stand in.
    """
    agreeing = [one for one in enumerate(_bound(template, window)) if outline.allows(one[1])]
    yield from agreeing
    if not agreeing and (stood_in := _stood_in(template, outline)) is not None:
        yield from ((None, invocation) for invocation in _fresh(stood_in, window))


def _bound(template: AnyTemplate, window: Window) -> list[Invocation]:
    """Its fresh bindings, made once for all that is told of a call."""
    name = ("bound", id(template))
    kept: tuple[AnyTemplate, list[Invocation]] | None = window.memo.get(name)
    if kept is None:
        kept = window.memo[name] = template, list(_fresh(template, window))
    return kept[1]


def _fresh(template: AnyTemplate, window: Window) -> Iterator[Invocation]:
    """Its bindings; what the session has asked for before is the business of `Repeat` alone."""
    asked = frozenset[str]() if isinstance(template, Repeat) else window.asked()
    return islice((invocation for invocation in template.bind(window) if invocation.key not in asked), MOST_BINDINGS)


def _stood_in(template: AnyTemplate, outline: Outline) -> Template | None:
    """The template with the known values in the places of their mappers; None if there is no place for one."""
    if not isinstance(template, Template) or template.tool != outline.tool or not outline.known:
        return None
    if not outline.known.keys() <= {name for name, _ in template.arguments}:
        return None
    known = {name: Constant(value) for name, value in outline.known.items()}
    return replace(template, arguments=tuple((name, known.get(name, own)) for name, own in template.arguments))
