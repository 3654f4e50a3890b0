"""The shape of a word: what kind of token it is, whatever its letters and digits.

`mia_li_3668` is `a_a_9`, `H8Q05L` is `X6`, `JFK` is `X3`, `2024-05-20` is `9-9-9`. Runs of one class
collapse; a code of capitals, with digits among them or not, keeps its length.
"""

import re
from functools import lru_cache

WORD = re.compile(r"[A-Za-z0-9_](?:[\w.@+-]*[\w])?")
"""What counts as one word of a text."""
_RUN = re.compile(r"[^\W_]+|[\W_]", re.ASCII)
_LONGEST = 80
_LONGEST_CODE = 16
PLAIN = frozenset({"a", "Aa", "A", "X1"})
"""Shapes of ordinary words: they tell nothing about where a value stands."""


@lru_cache(maxsize=8_192)
def shape_of(word: str) -> str:
    """The shape of a word; empty for one too long to be a name."""
    if not word or len(word) > _LONGEST:
        return ""
    return "".join(_class_of(run) for run in _RUN.findall(word))


def _class_of(run: str) -> str:
    if not run[0].isalnum():
        return run
    if run.isdigit():
        return "9"
    if run == run.upper():
        return f"X{len(run)}" if len(run) <= _LONGEST_CODE else "A"
    if run.isalpha():
        return "a" if run.islower() else "Aa"
    return "x"
