"""What a call needs and does not bring with it: it can be got ready before the call is made, and without making it."""

from dataclasses import dataclass
from enum import StrEnum


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
