"""What the headers of an answer tell of the limits of its key.

Two families are known: `x-ratelimit-remaining-tokens` and the like, with the time left until all is there again, which
OpenAI and those that follow it send; and `anthropic-ratelimit-tokens-remaining` and the like, with a moment.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from math import isfinite

from paste_proxy.turns.types import Allowance, RateLimits

_TOO_MANY = 429
_OVERLOADED = (503, 529)
"""They mean it where they tell when to come again."""
_SKEW_S = 5.0
"""Two clocks that are so far apart are not set alike: the server's own says how far off its moments are."""
_LONGEST_S = 366 * 86_400.0
_NUMBER = re.compile(r"\d{1,15}(\.\d{1,9})?")
_SPAN = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(ms|us|µs|ns|d|h|m|s)")
_UNITS_S = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}


def read_limits(status: int, headers: Mapping[str, str], now: float) -> RateLimits | None:
    """What an answer tells; None: nothing. Whatever cannot be read counts as not there.

    Args:
        headers: of the answer, found whatever the case of their names.
        now: seconds since 1970.
    """
    told = {name.lower(): value.strip() for name, value in headers.items() if _matters(name.lower())}
    now = _their_now(told.get("date"), now)
    after_s = _retry_after_s(told, now)
    refused = status == _TOO_MANY or (status in _OVERLOADED and after_s is not None)
    limits = RateLimits(
        requests=_allowance(told, "requests", now),
        tokens=_allowance(told, "tokens", now),
        input_tokens=_allowance(told, "input-tokens", now),
        output_tokens=_allowance(told, "output-tokens", now),
        refused=refused,
        retry_after_s=after_s if refused else None,
    )
    return None if limits == RateLimits() else limits


def _matters(name: str) -> bool:
    return name.startswith(("x-ratelimit-", "anthropic-ratelimit-")) or name in (
        "date",
        "retry-after",
        "retry-after-ms",
    )


def _their_now(date: str | None, now: float) -> float:
    theirs = _http_date(date or "")
    return now if theirs is None or abs(theirs - now) < _SKEW_S else theirs


def _allowance(told: Mapping[str, str], of: str, now: float) -> Allowance:
    def either(field: str) -> str:
        return told.get(f"anthropic-ratelimit-{of}-{field}") or told.get(f"x-ratelimit-{field}-{of}") or ""

    return Allowance(
        limit=_number(either("limit")), remaining=_number(either("remaining")), reset_s=_reset_s(either("reset"), now)
    )


def _number(text: str) -> float | None:
    return float(text) if _NUMBER.fullmatch(text) else None


def _reset_s(text: str, now: float) -> float | None:
    """Seconds until a reset: `6m0s`, `120ms`, a number of seconds, or a moment as of RFC 3339 or as seconds of 1970."""
    seconds = _number(text)
    if seconds is not None:
        return _bounded(seconds if seconds < _LONGEST_S else seconds - now)
    if (parts := list(_SPAN.finditer(text))) and "".join(part[0] for part in parts) == text:
        return _bounded(sum(float(part[1]) * _UNITS_S[part[2]] for part in parts))
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return _bounded(moment.timestamp() - now) if moment.tzinfo is not None else None


def _retry_after_s(told: Mapping[str, str], now: float) -> float | None:
    milliseconds = _number(told.get("retry-after-ms", ""))
    if milliseconds is not None:
        return _bounded(milliseconds / 1_000)
    said = told.get("retry-after", "")
    seconds = _number(said)
    if seconds is not None:
        return _bounded(seconds)
    moment = _http_date(said)
    return None if moment is None else _bounded(moment - now)


def _http_date(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, OverflowError, IndexError):
        return None


def _bounded(seconds: float) -> float | None:
    return min(max(seconds, 0.0), _LONGEST_S) if isfinite(seconds) else None
