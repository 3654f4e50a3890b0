"""Contexts: short suffixes of a session's signature stream (PASTE 4.1, first pass).

A context is written as its signatures, oldest first, joined by ` > `. The signature of an output is
`STATUS:SHAPE:TOOL`; a context of `STATUS TOOL` leaves its shape out. The empty context matches always.
A session opens with `^`, so that a first user message differs from a later one.
"""

from collections.abc import Sequence

from paste_proxy.events.result import Status
from paste_proxy.events.signature import SHAPES
from paste_proxy.events.values import brief

START = "^"
LONGEST = 3
"""Signatures in the longest context."""
USER, SPOKE = "user", "llm"
_JOIN = " > "
_STATUSES = tuple(status.value for status in Status)
_SHOWN = 60
"""Characters of a tool's name that a fault shows."""


def suffixes(stream: Sequence[str], longest: int = LONGEST) -> tuple[str, ...]:
    """The contexts that a stream ends in: the empty one, the last outcome, then 1 to `longest` signatures."""
    recent = tuple(stream)[-longest:] if longest else ()
    if not recent:
        return ("",)
    exact = (_JOIN.join(recent[-length:]) for length in range(1, len(recent) + 1))
    last = outcome(recent[-1])
    return ("", *exact) if last == recent[-1] else ("", last, *exact)


def outcome(signature: str) -> str:
    """The coarsest sense of a signature: status and tool of an output (`ok search`), else the signature."""
    status, _, rest = signature.partition(":")
    return f"{status} {rest.partition(':')[2]}" if rest else signature


def length(context: str) -> int:
    """How far a context looks: 0 for the empty one, 1 for an outcome, one more for each signature."""
    return context.count(_JOIN) + 1 + (outcome(context) != context) if context else 0


def parent(context: str) -> str:
    """The next shorter context, for back-off."""
    if _JOIN in context:
        return context.partition(_JOIN)[2]
    return outcome(context) if outcome(context) != context else ""


def typo_in(context: str) -> tuple[str, str] | None:
    """Where a context can never match: what stands there, and what was expected; None where it may.

    One signature may be an outcome (`ok search`); of several none may. A session begins once, and a turn that called
    nothing counts only until the next event.
    """
    signatures = context.split(_JOIN) if context else []
    if len(signatures) > LONGEST:
        return f"{len(signatures)} signatures", f"{LONGEST} at most"
    if START in signatures[1:]:
        return f"{START} after the beginning", f"{START} as the first of several"
    if signatures == [START]:
        return f"{START} alone", f"what comes after it, as in '{START}{_JOIN}{USER}'"
    if SPOKE in signatures[:-1]:
        return f"{SPOKE} before something else", f"{SPOKE} as the last"
    faults = (_typo_in(signature, alone=len(signatures) == 1) for signature in signatures)
    return next(filter(None, faults), None)


def _typo_in(signature: str, *, alone: bool) -> tuple[str, str] | None:
    if signature in (START, USER, SPOKE):
        return None
    before_colon, colon, rest = signature.partition(":")
    status, blank, tool = signature.partition(" ")
    statuses = " or ".join(_STATUSES)
    named = tool.strip()[:_SHOWN] or "search"
    among_several = f"{USER}, {SPOKE} or STATUS:SHAPE:TOOL among several, as in 'ok:text:{named}'"
    if blank and (not colon or " " in before_colon):
        if not alone:
            return brief(signature), among_several
        if status not in _STATUSES or not tool.strip():
            return brief(signature), f"{statuses} and the name of a tool, as in 'ok search'"
        return None
    shape, _, tool = rest.partition(":")
    if not colon or not tool:
        one = f"{USER}, {SPOKE}, STATUS TOOL or STATUS:SHAPE:TOOL"
        return brief(signature), one if alone else among_several
    if before_colon not in _STATUSES:
        return brief(before_colon), statuses
    return None if shape in SHAPES else (brief(shape), "one of " + ", ".join(SHAPES))
