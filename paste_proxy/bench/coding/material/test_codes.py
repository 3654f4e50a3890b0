"""Tests of the codes."""

import random
import unittest

from . import codes


class Codes(unittest.TestCase):
    """There and back."""

    def test_any_text_comes_back(self) -> None:
        """And takes no more room than a fixed length would."""
        draw = random.Random(codes.SEED)
        for length in range(2, 4_400, 19):
            text = "ab" + "".join(draw.choices("abcdefgh", weights=range(1, 9), k=length))
            known = codes.codes(text)
            bits = "".join(known[letter] for letter in text)
            self.assertEqual(codes.decoded(bits, known), text)
            self.assertLessEqual(len(bits), 3 * len(text))
