"""Counting what becomes of the candidates a template gives."""

from collections import defaultdict
from dataclasses import dataclass, field

from paste_proxy.mining.contexts import suffixes
from paste_proxy.mining.estimate import Count
from paste_proxy.mining.notation import text_of
from paste_proxy.mining.pattern import Pattern, pattern_id
from paste_proxy.mining.replay import Replayed
from paste_proxy.mining.templates import MOST_BINDINGS, AnyTemplate, bindings


@dataclass(slots=True)
class Tally:
    """Counts what becomes of one template's bindings."""

    template: AnyTemplate
    id: str | None = None
    """The name of its pattern; None: one is made."""
    ranks: list[dict[str, Count]] = field(default_factory=lambda: [defaultdict(Count) for _ in range(MOST_BINDINGS)])
    groups: set[str] = field(default_factory=set)

    def add(self, at: Replayed, group: str) -> None:
        """Bind at a moment and note what came."""
        bound = bindings(self.template, at.window)
        if not bound:
            return
        contexts = suffixes(at.window.context())
        for invocation, counts in zip(bound, self.ranks, strict=False):
            is_next, is_ever = invocation.key in at.next, invocation.key in at.ever
            if is_ever:
                self.groups.add(group)
            for context in contexts:
                counts[context].add(is_next=is_next, is_ever=is_ever)

    def pattern(self) -> Pattern:
        """The pattern it makes."""
        ranks = tuple(dict(counts) for counts in self.ranks)
        name = pattern_id(text_of(self.template), self.template.tool) if self.id is None else self.id
        return Pattern(self.template, ranks, len(self.groups), name)
