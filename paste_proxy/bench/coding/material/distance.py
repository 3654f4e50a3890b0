"""How far texts are apart."""

SEED = 1
REVISION = 0


def edits(first: str, second: str) -> int:
    """The least number of characters added, taken away or replaced (Levenshtein)."""
    row = list(range(len(second) + 1))
    for at, letter in enumerate(first, 1):
        above, row[0] = row[0], at
        for place, other in enumerate(second, 1):
            above, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, above + (letter != other))
    return row[-1]


def shared(first: str, second: str) -> int:
    """The length of the longest common subsequence."""
    row = [0] * (len(second) + 1)
    for letter in first:
        above = 0
        for place, other in enumerate(second, 1):
            above, row[place] = row[place], above + 1 if letter == other else max(row[place], row[place - 1])
    return row[-1]
