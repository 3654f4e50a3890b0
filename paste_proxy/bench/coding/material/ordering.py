"""Sorting without help."""

from collections.abc import Sequence

SEED = 1
REVISION = 0


def merged(first: Sequence[int], second: Sequence[int]) -> list[int]:
    """Two sorted sequences as one."""
    result, left, right = [], 0, 0
    while left < len(first) and right < len(second):
        if first[left] <= second[right]:
            result.append(first[left])
            left += 1
        else:
            result.append(second[right])
            right += 1
    return [*result, *first[left:], *second[right:]]


def ordered(numbers: Sequence[int]) -> list[int]:
    """By merging halves."""
    if len(numbers) < 2:
        return list(numbers)
    half = len(numbers) // 2
    return merged(ordered(numbers[:half]), ordered(numbers[half:]))
