"""Codes of variable length."""

import heapq
from collections import Counter

SEED = 1
REVISION = 0


def codes(text: str) -> dict[str, str]:
    """A code for each letter, short for frequent ones (Huffman)."""
    heap = [(count, at, letter) for at, (letter, count) in enumerate(sorted(Counter(text).items()))]
    known = {letter: "" for _, _, letter in heap}
    heapq.heapify(heap)
    at = len(heap)
    while len(heap) > 1:
        (few, _, less), (more, _, rest) = heapq.heappop(heap), heapq.heappop(heap)
        for letters, bit in ((less, "0"), (rest, "1")):
            for letter in letters:
                known[letter] = bit + known[letter]
        heapq.heappush(heap, (few + more, at, less + rest))
        at += 1
    return known


def decoded(bits: str, known: dict[str, str]) -> str:
    """The text that was coded."""
    letters, word, text = {code: letter for letter, code in known.items()}, "", []
    for bit in bits:
        word += bit
        if word in letters:
            text.append(letters[word])
            word = ""
    return "".join(text)
