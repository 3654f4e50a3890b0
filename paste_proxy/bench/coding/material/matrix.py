"""Matrices of fractions."""

from fractions import Fraction

SEED = 1
REVISION = 0
Matrix = list[list[Fraction]]


def product(first: Matrix, second: Matrix) -> Matrix:
    """Row by column."""
    columns = list(zip(*second, strict=True))
    return [[sum((a * b for a, b in zip(row, column, strict=True)), Fraction()) for column in columns] for row in first]


def inverse(given: Matrix) -> Matrix:
    """By elimination; raises ZeroDivisionError where there is none."""
    size = len(given)
    rows = [[*row, *(Fraction(int(at == place)) for place in range(size))] for at, row in enumerate(given)]
    for at in range(size):
        pivot = next((place for place in range(at, size) if rows[place][at]), at)
        rows[at], rows[pivot] = rows[pivot], rows[at]
        scale = rows[at][at]
        rows[at] = [value / scale for value in rows[at]]
        for place in range(size):
            if place != at and (times := rows[place][at]):
                rows[place] = [value - times * taken for value, taken in zip(rows[place], rows[at], strict=True)]
    return [row[size:] for row in rows]
