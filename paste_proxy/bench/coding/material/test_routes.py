"""Tests of the shortest ways."""

import random
import unittest

from . import routes


class Routes(unittest.TestCase):
    """One algorithm against the other."""

    def test_both_find_the_same(self) -> None:
        """In graphs of several sizes."""
        draw = random.Random(routes.SEED)
        for size in range(4, 68, 4):
            graph = {place: {draw.randrange(size): draw.randrange(1, 90) for _ in range(4)} for place in range(size)}
            known = routes.all_pairs(graph)
            for start in graph:
                expected = {to: far for (place, to), far in known.items() if place == start}
                self.assertEqual(routes.shortest(graph, start), expected)
