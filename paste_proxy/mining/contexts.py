"""Contexts: short suffixes of a session's signature stream (PASTE 4.1, first pass).

A context is written as its signatures, oldest first, joined by ` > `. The signature of an output is
`STATUS:SHAPE:TOOL`; a context of `STATUS TOOL` leaves its shape out. The empty context matches always.
A session opens with `^`, so that a first user message differs from a later one.
"""

from collections.abc import Sequence

START = "^"
LONGEST = 3
"""Signatures in the longest context."""
_JOIN = " > "


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
