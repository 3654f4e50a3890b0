"""The words that a session opens with: replays of one task open alike, whatever their ids.

What a user says first may be no more than a greeting, or a command of the client (`/clear`); what they say next belongs
to it then, until it is enough to tell a task by. All that was ever said may be a short task: "fix the login bug".
"""

import re
from bisect import insort
from dataclasses import dataclass, field
from hashlib import blake2b

_ENOUGH = 8
"""Words after which no more need be heard."""
_LEAST = 3
"""Fewer tell no task, though no more was said."""
_WORD = 2
"""Letters that count as a word where no blanks stand between words."""
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""A letter of Thai, Lao, Burmese, Khmer, Japanese or Chinese."""

Place = tuple[int, ...]
"""Where an event stands in its session."""


@dataclass(frozen=True, slots=True, order=True)
class _Said:
    """One message: its place, how many words it has, and what stands for them."""

    place: Place
    words: int
    digest: bytes


@dataclass(slots=True)
class Opening:
    """Gathers what a user said first, heard in any order; it holds no word of it."""

    _said: list[_Said] = field(default_factory=list)

    def hear(self, text: str, place: Place) -> None:
        """A user message."""
        if self._is_over(place):
            return
        words = text.lower().split()
        if words:
            insort(self._said, _Said(place, sum(map(_counted, words)), _digest(" ".join(words))))
            self._end()

    def digest(self) -> str | None:
        """What stands for it; None if it is no more than a greeting."""
        if sum(one.words for one in self._said) < _LEAST:
            return None
        return _digest("".join(one.digest.hex() for one in self._said)).hex()

    def _is_over(self, place: Place) -> bool:
        return bool(self._said) and place > self._said[-1].place and sum(one.words for one in self._said) >= _ENOUGH

    def _end(self) -> None:
        """Forget what stands behind enough words."""
        heard = 0
        for at, one in enumerate(self._said):
            heard += one.words
            if heard >= _ENOUGH:
                del self._said[at + 1 :]


def _counted(word: str) -> int:
    """How many words stand between two blanks."""
    return max(1, len(_UNSPACED.findall(word)) // _WORD)


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
