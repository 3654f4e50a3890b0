"""What a call needs and does not bring with it: it can be got ready before the call is made, and without making it."""

from dataclasses import dataclass
from enum import StrEnum

from paste_proxy.speculation.fields import Fields


class Preparation(StrEnum):
    """Ways of getting ready; none of them sends anything of a call."""

    CONNECTION = "connection"
    """To its upstream: the name is looked up, TCP and TLS are done, and no request is sent."""
    SESSION = "session"
    """Its server's process runs, its MCP session is open."""
    FILES = "files"
    """The files that it names are in the page cache."""


@dataclass(frozen=True, slots=True)
class Need:
    """Something that calls need; two of one kind and name are the same."""

    kind: Preparation
    name: str


def read_preparations(fields: Fields) -> frozenset[Preparation] | None:
    """The key `prepare` of a policy's rule; None: it does not say.

    Raises:
        InputFault: it is no list of such ways.
    """
    value = fields.value("prepare")
    if value is None:
        return None
    if not isinstance(value, list) or not all(kind in tuple(Preparation) for kind in value):
        raise fields.fault("prepare", f"a list of {', '.join(map(repr, map(str, Preparation)))}, or an empty one")
    return frozenset(map(Preparation, value))
