"""Tests of the primes."""

import math
import unittest

from . import sieve


class Sieve(unittest.TestCase):
    """Primes against factors."""

    def test_every_number_is_the_product_of_its_factors(self) -> None:
        """And each factor is a prime."""
        known = set(sieve.primes(46_000))
        for number in range(2 + sieve.SEED, 36_000 + sieve.SEED):
            found = sieve.factors(number)
            self.assertEqual(math.prod(found), number)
            self.assertLessEqual(set(found), known)

    def test_there_are_as_many_as_are_known(self) -> None:
        """By table."""
        self.assertEqual([len(sieve.primes(10**power)) for power in range(1, 7)], [4, 25, 168, 1229, 9592, 78498])
