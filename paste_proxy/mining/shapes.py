"""The shape of a word: what kind of token it is, whatever its letters and digits.

`mia_li_3668` is `a_a_9`, `H8Q05L` is `X6`, `JFK` is `X3`, `2024-05-20` is `9-9-9`. Runs of one class
collapse; a code of capitals, with digits among them or not, keeps its length.
"""

import re
from functools import lru_cache
from string import ascii_lowercase, ascii_uppercase, digits

WORD = re.compile(r"[A-Za-z0-9_][\w.@+-]*(?<=\w)")
"""What counts as one word of a text."""
_RUN = re.compile(r"[^\W_]+|[\W_]", re.ASCII)
_LONGEST = 80
_LONGEST_CODE = 16
PLAIN = frozenset({"a", "Aa", "A", "X1"})
"""Shapes of ordinary words: they tell nothing about where a value stands."""
_MASK = str.maketrans(
    dict.fromkeys(ascii_lowercase, "a") | dict.fromkeys(ascii_uppercase, "A") | dict.fromkeys(digits, "9")
)


def is_plain(word: str) -> bool:
    """Whether it is letters and no code, so that its shape is a plain one: quicker to say than the shape."""
    return word.isascii() and word.isalpha() and not (word.isupper() and 1 < len(word) <= _LONGEST_CODE)


def shape_of(word: str) -> str:
    """The shape of a word; empty for one too long to be a name."""
    return _of_mask(word.translate(_MASK)) if 0 < len(word) <= _LONGEST else ""


@lru_cache(maxsize=8_192)
def _of_mask(mask: str) -> str:
    return "".join(_class_of(run) for run in _RUN.findall(mask))


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
