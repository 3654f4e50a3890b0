"""The files in sight: those that the session's words and answers name, and how each stands there.

A file counts where it was named last. Whatever names several files is a list that the session may work through: a
plan, the hits of a search. So of each file is told how many before it there have not been asked for yet.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from paste_proxy.mining.bearings import Bearings
from paste_proxy.mining.material import FILE, Material
from paste_proxy.mining.window import Window

_MOST = 48
_OF_ONE = 32
_PATH = "path"


@dataclass(slots=True)
class Sighting:
    """Where a file was named last."""

    kind: str
    """That of the observation."""
    tool: str
    """Whose answer it is; empty for words."""
    age: int
    """Observations since."""
    order: int
    """Among the files named there, from 0."""
    unread: int
    """How many of those before it have not been asked for."""
    beside: int
    """Files named there."""
    after: bool
    """The file before it is the one asked for last."""
    mentions: int = 1
    """Observations that name it, of those looked at."""


def in_sight(window: Window, known: Bearings) -> dict[str, Sighting]:
    """The files named last, by absolute path, the latest first; at most 48.

    Args:
        known: what paths are read against while the session has named no folder.
    """
    asked, latest = _asked(window)
    found: dict[str, Sighting] = {}
    for age, seen in enumerate(reversed(window.observations)):
        if seen.said is None:
            continue
        files = _files(seen.said, window.bearings, known)
        before, unread = "", 0
        for order, path in enumerate(files):
            one = found.get(path)
            if one is None:
                after = order > 0 and before == latest
                found[path] = Sighting(seen.kind, seen.tool, age, order, unread, len(files), after)
            else:
                one.mentions += 1
            unread += path not in asked
            before = path
        if len(found) >= _MOST:
            break
    return dict(islice(found.items(), _MOST))


def _files(said: Material, bearings: Bearings, known: Bearings) -> list[str]:
    """The files that a text names, absolute, in order."""
    if not bearings.lost:
        return [str(one.value) for one in islice(said.take(FILE), _OF_ONE)]
    paths = (str(one.value) for one in islice(said.take(_PATH), _OF_ONE))
    return list(dict.fromkeys(_absolute(paths, known)))


def _absolute(paths: Iterable[str], known: Bearings) -> Iterable[str]:
    for path in paths:
        whole = path if path.startswith("/") else known.whole(path)
        if whole is not None:
            yield whole


def _asked(window: Window) -> tuple[set[str], str]:
    """The absolute paths that calls named as they are, and the last of them."""
    asked: set[str] = set()
    latest = ""
    for seen in window.observations:
        if seen.invocation is not None:
            for value in seen.invocation.arguments.values():
                if isinstance(value, str) and value.startswith("/"):
                    asked.add(value)
                    latest = value
    return asked, latest
