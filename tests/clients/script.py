"""What a scripted model says, whatever the protocol it says it in."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

Body = dict[str, Any]
"""A request's JSON."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call, by the name that the client gives the tool."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One answer."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    status: int = 200
    """Other than 200: the request is refused with it."""
    think_s: float = 0.0
    """How long the stream goes on saying nothing before its calls."""
    pause_s: float = 0.8
    """How long the stream goes on saying nothing after its calls stand complete."""


class Format(Protocol):
    """One LLM protocol, from the side of the server."""

    def turns_before(self, body: Body) -> int | None:
        """How many of the model's turns a request's history holds; None: a side question, no agent's turn."""

    def stream(self, turn: Turn, number: int) -> Iterator[bytes | float]:
        """The turn as chunks of a stream, and pauses in seconds between them."""

    def aside(self, path: str, body: Body) -> bytes:
        """The answer to a side question."""

    content_type: str
