"""How long something recorded took, as far as it can be believed."""

_LONGEST_S = 86_400.0


def credible(seconds: float | None) -> float | None:
    """The seconds; None where a record holds what no call takes: less than none, more than a day, or no number."""
    return seconds if seconds is not None and 0 <= seconds <= _LONGEST_S else None
