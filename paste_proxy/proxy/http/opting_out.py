"""The header by which a client wants nothing run ahead for its session, from then on.

It goes on to the upstream like any other header of the client's.
"""

from collections.abc import Iterable

HEADER = "x-paste-speculate"
_OFF = "off"


def opts_out(headers: Iterable[tuple[str, str]]) -> bool:
    """Whether these headers, names and values, say so; any other value than `off` says nothing."""
    return any(name.lower() == HEADER and value.strip().lower() == _OFF for name, value in headers)
