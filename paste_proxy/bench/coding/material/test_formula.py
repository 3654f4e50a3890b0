"""Tests of the formulas."""

import random
import unittest

from . import formula


def written(draw: random.Random, depth: int) -> tuple[str, int]:
    """A formula and what it comes to."""
    if not depth:
        number = draw.randrange(1_000)
        return str(number), number
    (one, first), (two, second) = written(draw, depth - 1), written(draw, depth - 1)
    sign = draw.choice("+-*")
    total = {"+": first + second, "-": first - second, "*": first * second}[sign]
    return f"({one}) {sign} ({two})", total


class Formula(unittest.TestCase):
    """Formulas whose value is known."""

    def test_any_formula(self) -> None:
        """Of several depths."""
        draw = random.Random(formula.SEED)
        for _ in range(280):
            text, total = written(draw, 8)
            self.assertEqual(formula.value(text), total)
