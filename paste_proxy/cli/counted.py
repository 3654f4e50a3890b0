"""Numbers of things, for people."""


def counted(number: int, noun: str, rest: str = "") -> str:
    """`1 session`, `2 sessions`; `rest` follows the noun: `2 files with a torn last line`."""
    return f"{number} {noun}{'' if number == 1 else 's'}{rest and ' '}{rest}"
