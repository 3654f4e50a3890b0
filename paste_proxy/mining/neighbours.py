"""Words by the word that stands beside them: in `book it with card id 1432`, `1432` stands after `id`."""

from itertools import pairwise

AFTER, BEFORE = "after:", "before:"
"""How takes begin that mean the words after, or before, a given one."""
_EDGES = ".,;:!?\"'`()[]{}<>$€£*"
_LONGEST_TEXT = 4_000
_LONGEST_WORD = 60
_MOST = 12


def words_beside(text: str) -> dict[str, list[str]]:
    """The words of a text by take, distinct, in order; of a text beyond 4,000 characters, of its beginning."""
    words = [word for raw in text[:_LONGEST_TEXT].split() if (word := raw.strip(_EDGES)) and len(word) <= _LONGEST_WORD]
    found: dict[str, dict[str, None]] = {}
    for word, following in pairwise(words):
        _note(found, AFTER + word.lower(), following)
        _note(found, BEFORE + following.lower(), word)
    return {take: list(values) for take, values in found.items()}


def _note(found: dict[str, dict[str, None]], take: str, value: str) -> None:
    values = found.setdefault(take, {})
    if len(values) < _MOST:
        values[value] = None


def is_neighbour(take: str) -> bool:
    """Whether a take is one of these."""
    return take.startswith((AFTER, BEFORE))
