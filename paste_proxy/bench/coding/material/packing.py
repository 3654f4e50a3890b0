"""What fits into a bag."""

from collections.abc import Sequence
from itertools import combinations

SEED = 1
REVISION = 0
Thing = tuple[int, int]


def best(things: Sequence[Thing], room: int) -> int:
    """The greatest worth of things (weight, worth) that fit, by dynamic programming."""
    worth = [0] * (room + 1)
    for weight, value in things:
        for left in range(room, weight - 1, -1):
            worth[left] = max(worth[left], worth[left - weight] + value)
    return worth[room]


def best_of_all(things: Sequence[Thing], room: int) -> int:
    """The same, by trying everything."""
    choices = (chosen for count in range(len(things) + 1) for chosen in combinations(things, count))
    return max(sum(worth for _, worth in one) for one in choices if sum(weight for weight, _ in one) <= room)
