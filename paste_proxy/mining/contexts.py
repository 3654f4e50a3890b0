"""Contexts: short suffixes of a session's signature stream (PASTE 4.1, first pass).

A context is written as its signatures, oldest first, joined by ` > `; the empty context matches always.
A session opens with `^`, so that a first user message differs from a later one.
"""

from collections.abc import Sequence

START = "^"
LONGEST = 3
"""Signatures in the longest context."""
_JOIN = " > "


def suffixes(stream: Sequence[str], longest: int = LONGEST) -> tuple[str, ...]:
    """The contexts that a stream ends in, from the empty one to that of `longest` signatures."""
    recent = tuple(stream)[-longest:] if longest else ()
    return ("", *(_JOIN.join(recent[-length:]) for length in range(1, len(recent) + 1)))


def length(context: str) -> int:
    """How many signatures a context holds."""
    return context.count(_JOIN) + 1 if context else 0


def parent(context: str) -> str:
    """The context one signature shorter, for back-off."""
    return context.partition(_JOIN)[2]
