"""The shape of a word: what kind of token it is, whatever its letters and digits.

`mia_li_3668` is `a_a_9`, `H8Q05L` is `X6`, `JFK` is `X3`, `2024-05-20` is `9-9-9`. Runs of one class
collapse; a code of capitals, with digits among them or not, keeps its length.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits

WORD = re.compile(r"[A-Za-z0-9_][\w.@+-]*(?<=\w)")
"""What counts as one word of a text."""
_RUN = re.compile(r"[^\W_]+|[\W_]", re.ASCII)
_LONGEST = 80
_LONGEST_CODE = 16
PLAIN = frozenset({"a", "Aa", "A", "X1"})
"""Shapes of ordinary words: they tell nothing about where a value stands."""
_EDGES = ".@+-"
"""What stands within a word but at neither end of it."""
_WITHIN = frozenset(ascii_letters + digits + "_" + _EDGES)
_APART = str.maketrans({character: " " for character in map(chr, range(128)) if character not in _WITHIN})
"""Leaves of an ASCII text its words, apart."""
_MASK = str.maketrans(
    dict.fromkeys(ascii_lowercase, "a") | dict.fromkeys(ascii_uppercase, "A") | dict.fromkeys(digits, "9")
)


def shape_of(word: str) -> str:
    """The shape of a word; empty for one too long to be a name."""
    return _of_mask(word.translate(_MASK)) if 0 < len(word) <= _LONGEST else ""


def telling(text: str) -> Iterator[tuple[str, str]]:
    """The words of a text, in order, whose shapes are no plain ones, and their shapes. A word may come again."""
    if text.isascii():
        some = [piece for piece in text.translate(_APART).split() if not piece.isalpha() or piece.isupper()]
    else:
        some = [word for word in WORD.findall(text) if not (word.isalpha() and word.isascii()) or word.isupper()]
    pieces = list(dict.fromkeys(some))
    masks = "\n".join(pieces).translate(_MASK).split("\n")
    for piece, mask in zip(pieces, masks, strict=False):
        shape = _telling_shape(mask)
        if shape:
            yield piece.strip(_EDGES), shape


@lru_cache(maxsize=8_192)
def _telling_shape(mask: str) -> str:
    """The shape of a word with this mask, whatever stands at its edges; empty for a plain one."""
    word = mask.strip(_EDGES)
    shape = _of_mask(word) if 0 < len(word) <= _LONGEST else ""
    return "" if shape in PLAIN else shape


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
