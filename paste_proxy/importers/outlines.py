"""Recorded sessions in outline: what can be known of very many of them without holding their events."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from paste_proxy.events.types import ToolCall, UserMessage
from paste_proxy.importers.neutral import steps_of
from paste_proxy.importers.records import Corrupt
from paste_proxy.mining.openings import Opening


@dataclass(slots=True)
class Outline:
    """One session."""

    id: str
    source: str
    opening: str | None = None
    """What stands for the words that it opens with, see `Opening`."""
    events: int = 0
    calls: int = 0


def outlines(paths: Iterable[Path], on_bytes: Callable[[int], None] = lambda _: None) -> list[Outline]:
    """The sessions of files and folders, in the order in which they first appear.

    `on_bytes` is called as by `numbered_lines`.

    Raises:
        InputFault: as `read_sessions`.
    """
    found: dict[str, Outline] = {}
    openings: dict[str, Opening] = {}
    sources: dict[str, str] = {}
    for order, source, step in steps_of(paths, Corrupt(), on_bytes=on_bytes):
        event = step.event
        outline = found.get(event.session)
        if outline is None:
            outline = found[event.session] = Outline(event.session, sources.setdefault(source, source))
        outline.events += 1
        if isinstance(event, ToolCall):
            outline.calls += 1
        elif isinstance(event, UserMessage):
            openings.setdefault(event.session, Opening()).hear(event.text, (order, step.seq))
    for session, opening in openings.items():
        found[session].opening = opening.digest()
    return list(found.values())
