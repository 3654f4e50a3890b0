"""Tests of the digits."""

import math
import unittest

from . import digits


class Digits(unittest.TestCase):
    """Against what is known."""

    def test_pi(self) -> None:
        """Its beginning, and that longer ones begin alike."""
        long = digits.digits_of_pi(900 + digits.SEED)
        self.assertTrue(long.startswith("31415926535897932384626433832795"))
        self.assertTrue(all(long.startswith(digits.digits_of_pi(count)) for count in range(1, 240)))

    def test_roots(self) -> None:
        """To many digits."""
        for number in range(2, 60):
            self.assertEqual(digits.root(number, 300), math.isqrt(number * 10**600))
