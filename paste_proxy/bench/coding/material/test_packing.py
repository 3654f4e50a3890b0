"""Tests of the packing."""

import random
import unittest

from . import packing


class Packing(unittest.TestCase):
    """One way against the other."""

    def test_both_find_the_best(self) -> None:
        """Of a few things."""
        draw = random.Random(packing.SEED)
        for count in range(1, 16):
            things = [(draw.randrange(1, 40), draw.randrange(100)) for _ in range(count)]
            for room in (10, 100, 300):
                self.assertEqual(packing.best(things, room), packing.best_of_all(things, room))
