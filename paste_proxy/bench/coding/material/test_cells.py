"""Tests of the game."""

import random
import unittest

from . import cells


class Life(unittest.TestCase):
    """What is known of it."""

    def test_a_glider_glides(self) -> None:
        """One step each way in four generations."""
        glider = {(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)}
        self.assertEqual(cells.later(glider, 400), {(x + 100, y + 100) for x, y in glider})

    def test_a_mirrored_field_stays_mirrored(self) -> None:
        """Whatever is on it."""
        draw = random.Random(cells.SEED)
        field = {(draw.randrange(40), draw.randrange(40)) for _ in range(500)}
        mirrored = {(-x, y) for x, y in field}
        self.assertEqual(cells.later(mirrored, 360), {(-x, y) for x, y in cells.later(field, 360)})
