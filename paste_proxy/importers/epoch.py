"""Times as logs write them, in seconds since the epoch."""

from datetime import UTC, datetime
from math import isfinite

from paste_proxy.events.values import Json

_PER_SECOND = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
"""From which number on a time is counted in nanoseconds, microseconds, milliseconds: all after 1973, before 5138."""


def epoch_seconds(value: Json) -> float | None:
    """Seconds since the epoch of an ISO text (UTC where it names no zone) or a number of any usual unit.

    None for anything else.
    """
    match value:
        case bool():
            return None
        case int() | float():
            return _of_number(value)
        case str():
            return _of_text(value.strip())
        case _:
            return None


def between(start: float | None, end: float | None) -> float | None:
    """Seconds from one time to another, None where one is not known or they are the wrong way round."""
    if start is None or end is None or end < start:
        return None
    return round(end - start, 6)


def seconds(value: Json, *, per_second: int = 1) -> float | None:
    """A length of time in seconds, None where the value is no such."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e17:
        return None
    return round(value / per_second, 6)


def _of_number(number: float) -> float | None:
    if not 0 < number < 1e21 or not isfinite(number):
        return None
    units = next((unit for least, unit in _PER_SECOND if number >= least), 1.0)
    return round(number / units, 6)


def _of_text(text: str) -> float | None:
    if text.isascii() and text.isdigit() and len(text) <= 20:
        return _of_number(int(text))
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp(), 6)
