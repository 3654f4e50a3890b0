"""The samples of a metrics page that are asked for, by name and replica.

A page of some hundred kilobytes is read on the event loop, so whatever is not asked for is passed over before anything
is parsed.
"""

import re
from collections.abc import Iterator, Mapping
from math import isfinite

from prometheus_client.parser import text_string_to_metric_families

_RANKS = frozenset({"tp_rank", "pp_rank", "moe_ep_rank"})
"""Parts of one replica, each of which may tell the same."""

Labels = Mapping[str, str]
Replica = frozenset[tuple[str, str]]
"""The labels that it is told apart by."""


class Page:
    """What a page says.

    Args:
        names: of the samples that matter.

    Raises:
        ValueError: a line with such a name is none of a metrics page.
    """

    def __init__(self, text: str, names: frozenset[str]) -> None:
        wanted = "|".join(sorted((re.escape(name).replace(":", "[:_]") for name in names), key=len, reverse=True))
        lines = re.findall(rf"^(?:{wanted})[ \t{{].*$", text, re.MULTILINE)
        spelled = {name.replace(":", "_"): name for name in names}
        self._samples: dict[str, list[tuple[Labels, float]]] = {}
        for family in text_string_to_metric_families("\n".join(lines) + "\n"):
            for sample in family.samples:
                if isfinite(sample.value):
                    name = spelled[sample.name.replace(":", "_")]
                    self._samples.setdefault(name, []).append((sample.labels, float(sample.value)))

    def __contains__(self, name: str) -> bool:
        return name in self._samples

    def samples(self, name: str) -> Iterator[tuple[Labels, float]]:
        """All of a name."""
        return iter(self._samples.get(name, ()))

    def of_replicas(self, name: str) -> dict[Replica, float]:
        """By replica, the largest that one of its parts tells."""
        told: dict[Replica, float] = {}
        for labels, value in self.samples(name):
            replica = frozenset((label, said) for label, said in labels.items() if label not in _RANKS)
            told[replica] = max(value, told.get(replica, value))
        return told
