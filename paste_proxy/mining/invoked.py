"""Invocations whose arguments are short texts, made once: many patterns give the same, at moment after moment."""

from functools import lru_cache

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.values import Json

_LONGEST = 300
"""Characters of a text among them: what is longer is seldom given twice, and would be kept for long."""


def invoked(tool: str, arguments: dict[str, Json]) -> Invocation:
    """The invocation of a tool with these arguments, which must stay as they are."""
    for value in arguments.values():
        if type(value) is not str or len(value) > _LONGEST:
            return Invocation(tool, arguments)
    return _of_texts(tool, tuple(arguments.items()))


@lru_cache(maxsize=8_192)
def _of_texts(tool: str, arguments: tuple[tuple[str, Json], ...]) -> Invocation:
    return Invocation(tool, dict(arguments))
