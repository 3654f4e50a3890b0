"""Words by the word that stands beside them: in `book it with card id 1432`, `1432` stands after `id`."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

AFTER, BEFORE = "after:", "before:"
"""How takes begin that mean the words after, or before, a given one."""
_EDGES = ".,;:!?\"'`()[]{}<>$€£*"
_LONGEST_TEXT = 4_000
_LONGEST_WORD = 60
_MOST = 12


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The words of a text in their order; of a text beyond 4,000 characters, of its beginning."""

    words: list[str]
    lower: list[str]
    """The same in lower case."""

    @classmethod
    def of(cls, text: str) -> "Neighbours":
        """Those of a text, without what stands at their edges; words too long to be a name are left out."""
        pieces = [raw.strip(_EDGES) for raw in text[:_LONGEST_TEXT].split()]
        words = [word for word in pieces if 0 < len(word) <= _LONGEST_WORD]
        return cls(words, "\n".join(words).lower().split("\n") if words else [])

    def beside(self, take: str) -> list[str]:
        """The words that a take means, distinct, in order, at most 12."""
        _, _, word = take.partition(":")
        return list(islice(dict.fromkeys(self._beside(word, 1 if take.startswith(AFTER) else -1)), _MOST))

    def takes_of(self, lower: str) -> list[tuple[str, str]]:
        """Every take that means a word which reads so in lower case, and the word."""
        found: dict[tuple[str, str], None] = {}
        at = -1
        for _ in range(self.lower.count(lower)):
            at = self.lower.index(lower, at + 1)
            if at:
                found[AFTER + self.lower[at - 1], self.words[at]] = None
            if at + 1 < len(self.words):
                found[BEFORE + self.lower[at + 1], self.words[at]] = None
        return list(found)

    def _beside(self, word: str, step: int) -> Iterator[str]:
        at = -1
        for _ in range(self.lower.count(word)):
            at = self.lower.index(word, at + 1)
            if 0 <= at + step < len(self.words):
                yield self.words[at + step]


def may_stand(take: str, text: str) -> bool:
    """Whether a text may hold the word beside which a take looks: quicker to say than to find all words."""
    return not text.isascii() or take.partition(":")[2] in text.lower()


def is_neighbour(take: str) -> bool:
    """Whether a take is one of these."""
    return take.startswith((AFTER, BEFORE))
