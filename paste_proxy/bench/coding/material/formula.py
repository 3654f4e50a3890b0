"""Sums as people write them."""

import re

SEED = 1
REVISION = 0
_TOKEN = re.compile(r"\s*(\d+|[-+*()])")


def value(text: str) -> int:
    """What it comes to: numbers, brackets, +, - and *."""
    tokens = [match[1] for match in _TOKEN.finditer(text)][::-1]
    return _sum(tokens)


def _sum(tokens: list[str]) -> int:
    total = _product(tokens)
    while tokens and tokens[-1] in "+-":
        total += _product(tokens) if tokens.pop() == "+" else -_product(tokens)
    return total


def _product(tokens: list[str]) -> int:
    total = _atom(tokens)
    while tokens and tokens[-1] == "*":
        tokens.pop()
        total *= _atom(tokens)
    return total


def _atom(tokens: list[str]) -> int:
    word = tokens.pop()
    if word == "(":
        total = _sum(tokens)
        tokens.pop()
        return total
    return int(word)
