"""Tests of the distances."""

import random
import unittest

from . import distance


class Distance(unittest.TestCase):
    """What holds of any texts."""

    def test_it_is_a_metric(self) -> None:
        """And bounded by what two texts share."""
        draw = random.Random(distance.SEED)
        for _ in range(250):
            one, two, three = ("".join(draw.choices("abcd", k=draw.randrange(50))) for _ in range(3))
            self.assertEqual(distance.edits(one, two), distance.edits(two, one))
            self.assertLessEqual(distance.edits(one, three), distance.edits(one, two) + distance.edits(two, three))
            self.assertLessEqual(distance.edits(one, two), len(one) + len(two) - 2 * distance.shared(one, two))
