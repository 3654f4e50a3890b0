"""Tests of the matrices."""

import random
import unittest
from fractions import Fraction

from . import matrix


class Inverse(unittest.TestCase):
    """What an inverse is."""

    def test_a_matrix_times_its_inverse_is_one(self) -> None:
        """Of several sizes."""
        draw = random.Random(matrix.SEED)
        for size in range(1, 18):
            given = [[Fraction(draw.randrange(1, 40) + 99 * (x == y)) for x in range(size)] for y in range(size)]
            one = [[Fraction(int(x == y)) for x in range(size)] for y in range(size)]
            self.assertEqual(matrix.product(given, matrix.inverse(given)), one)
