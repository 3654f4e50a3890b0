"""Tests of the sorting."""

import random
import unittest

from . import ordering


class Ordering(unittest.TestCase):
    """Against the built-in."""

    def test_any_numbers_are_put_in_order(self) -> None:
        """Of all lengths."""
        draw = random.Random(ordering.SEED)
        for length in range(0, 760, 2):
            numbers = [draw.randrange(1_000) for _ in range(length)]
            self.assertEqual(ordering.ordered(numbers), sorted(numbers))
