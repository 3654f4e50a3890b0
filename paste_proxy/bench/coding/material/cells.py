"""Conway's game of life."""

from collections import Counter

SEED = 1
REVISION = 0
Cell = tuple[int, int]
_AROUND = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if x or y]


def after(cells: set[Cell]) -> set[Cell]:
    """The next generation."""
    near = Counter((x + right, y + down) for x, y in cells for right, down in _AROUND)
    return {cell for cell, count in near.items() if count == 3 or (count == 2 and cell in cells)}


def later(cells: set[Cell], generations: int) -> set[Cell]:
    """So many generations on."""
    for _ in range(generations):
        cells = after(cells)
    return cells
