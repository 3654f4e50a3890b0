"""A bar on a terminal while sessions are gone through, and none in a pipe."""

import sys
from collections.abc import Iterable, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def shown(items: Sequence[Item], doing: str) -> Iterable[Item]:
    """The items one by one; the bar says what is being done."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    return track(items, description=doing, console=console, transient=True, disable=not sys.stderr.isatty())
