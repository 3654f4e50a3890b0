"""What the metrics page of an engine says of its load.

Replicas on one page are summed; a share of theirs is weighed by the room that each has.
"""

from collections.abc import Mapping

from paste_proxy.engines.forms import FORMS, Form
from paste_proxy.engines.kinds import EngineKind
from paste_proxy.engines.page import Labels, Page, Replica
from paste_proxy.errors import UpstreamFault
from paste_proxy.turns.types import EngineLoad

_SHOWN = 60
"""Characters of a page that is none."""


class LoadParser:
    """Reads the pages of one engine, one after the other: what was found in its cache is told of the time between two.

    Args:
        kind: any but `OTHER`.
    """

    def __init__(self, kind: EngineKind) -> None:
        self._kind, self._form = kind, FORMS[kind]
        self._names = self._form.names()
        self._counted: dict[str, Mapping[Replica, float]] = {}
        """Of the page before, by name."""

    def read(self, text: str) -> EngineLoad:
        """The load that a page tells.

        Raises:
            UpstreamFault: it is no metrics page, or none of such an engine.
        """
        form = self._form
        try:
            page = Page(text, self._names)
        except (ValueError, LookupError) as fault:  # the parser says so of some lines
            raise UpstreamFault(f"its metrics cannot be read: {str(fault)[:_SHOWN]!r}") from fault
        if form.running not in page:
            raise UpstreamFault(f"{_found(text)}; expected a metrics page of {self._kind} with {form.running}")
        waiting = _sum(page, form.waiting)
        if form.parked is not None:
            name, label, value = form.parked
            waiting -= sum(held for labels, held in page.samples(name) if labels.get(label) == value)
        return EngineLoad(
            running=max(0.0, _sum(page, form.running)),
            waiting=max(0.0, waiting),
            kv_used=_share(page, form.kv_used, form),
            cache_hits=self._cache_hits(page),
        )

    def _cache_hits(self, page: Page) -> float | None:
        for found, of in self._form.found:
            if found in page and of in page:
                hits, asked = self._since(page, found), self._since(page, of)
                return min(1.0, hits / asked) if hits is not None and asked else None
        return _share(page, self._form.found_share, self._form)

    def _since(self, page: Page, name: str) -> float | None:
        """What a counter has counted since the page before; None: there was none. One that has fallen began anew."""
        now, before = page.of_replicas(name), self._counted.get(name)
        self._counted[name] = now
        if before is None:
            return None
        grown = 0.0
        for replica, count in now.items():
            last = before.get(replica, 0.0)
            grown += count - last if count >= last else count
        return grown


def _sum(page: Page, name: str) -> float:
    return sum(page.of_replicas(name).values())


def _share(page: Page, names: tuple[str, ...], form: Form) -> float | None:
    name = next((name for name in names if name in page), None)
    if name is None:
        return None
    told = page.of_replicas(name)
    rooms = {replica: _room(page, dict(replica), form) for replica in told}
    known = all(rooms.values())
    weights = {replica: (room or 1.0) if known else 1.0 for replica, room in rooms.items()}
    used = sum(share * weights[replica] for replica, share in told.items()) / sum(weights.values())
    return min(max(used, 0.0), 1.0)


def _room(page: Page, replica: Labels, form: Form) -> float | None:
    """Of the first sample whose labels contradict none of the replica's."""
    if form.room is None:
        return None
    name, label = form.room
    for labels, value in page.samples(name):
        if all(labels[told] == replica[told] for told in labels.keys() & replica.keys()):
            return value if label is None else _number(labels.get(label, ""))
    return None


def _number(text: str) -> float | None:
    return float(text) if text.isascii() and text.isdigit() else None


def _found(text: str) -> str:
    """What a page that is not the right one begins with."""
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line and not line.startswith("#")), "")
    return f"there is {first[:_SHOWN]!r} and the like" if first else "there is nothing"
