"""The folder that the measured workbench works in: notes to read, a log to go through, a program that computes."""

from pathlib import Path
from random import Random

NOTES, LINES = 120, 60
"""Of a note, about 3 kB."""
LOGS, LOG_LINES = 8, 30_000
SPIN = "spin.py"
_SPIN = '''"""Computes for a while; its argument only tells one run from another."""

total = 0
for number in range(6_000_000):
    total += number * number % 7
print(total)
'''
_TOPICS = 12


def note(number: int) -> str:
    """The path of a note."""
    return f"notes/topic{number % _TOPICS}/note{number}.md"


def log(number: int) -> str:
    """The path of a log."""
    return f"logs/day{number % LOGS}.log"


def make_folder(folder: Path) -> None:
    """Write it into an empty folder, alike every time. Blocks."""
    random = Random(7)  # noqa: S311 - the same in every run
    for number in range(NOTES):
        lines = [f"The part {_part(random)} goes with {random.randint(2, 99)} others." for _ in range(LINES)]
        _write(folder / note(number), lines)
    for number in range(LOGS):
        _write(folder / log(number), [f"{random.randint(0, 999):03} {_part(random)} ok" for _ in range(LOG_LINES)])
    (folder / SPIN).write_text(_SPIN, "utf-8")


def _part(random: Random) -> str:
    """A code of six capitals and digits, a word of its own shape."""
    return "".join(random.choices("ABCDEFGHJKLMNPQRSTUVWXYZ", k=3) + random.choices("23456789", k=3))


def _write(place: Path, lines: list[str]) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("\n".join(lines) + "\n", "utf-8")
