"""What every driver works with: two tools, the addresses it was given, and what it tells at its end."""

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from paste_proxy import Sidecar

LLM_URL = os.environ["LLM_URL"]
"""Of an OpenAI-compatible endpoint."""
LOOK_S = 0.3

ran: list[str] = []
"""Where `look` was, in the order of its runs."""


def count(words: str) -> str:
    """Count words.

    Args:
        words: what to count.
    """
    return str(len(words.split()))


def look(place: str, deep: bool = False) -> str:
    """Look at a place.

    Args:
        place: where to look.
        deep: whether to look below the water.
    """
    ran.append(place)
    time.sleep(LOOK_S)
    if place == "quay":
        raise ValueError("the quay is closed")
    return f"At the {place} all is calm{' below' if deep else ''}."


@contextmanager
def agent(
    through: Callable[[Sidecar, list[Any]], list[Any]], tools: list[Any], session: str = ""
) -> Iterator[list[Any]]:
    """The tools to use: behind the sidecar if there is one. Tells at the end what came of them."""
    url = os.environ.get("PASTE_URL")
    if not url:
        yield tools
        print(json.dumps({"ran": sorted(ran)}))
        return
    with Sidecar(url, session=session, patience_s=10) as paste:
        yield through(paste, tools)
        names = ("calls", "run", "reused", "promoted", "unreadable", "slow", "missing", "broken")
        print(json.dumps({"ran": sorted(ran), **{name: getattr(paste.stats, name) for name in names}}))
