"""Whether a tool's answer says that its service wants fewer calls, and for how long."""

import re
from dataclasses import dataclass

from paste_proxy.events.result import Status, ToolResult

_TOO_MANY, _UNAVAILABLE = 429, 503
_LOOKED_AT_BYTES = 4_096
"""Errors are short; in a long one such words are about something else."""
_WORDS = re.compile(
    r"too[\s_-]*many[\s_-]*requests|rate[\s_-]*limit|rate[\s_-]*exceeded|throttl(?:ed|ing)|"
    r"quota[\s_-]*(?:is[\s_-]*)?exceeded|exceeded[\w\s]{0,30}quota|resource[\s_-]*exhausted|"
    r"(?:status|http|error|code)[^0-9a-z]{0,12}429\b",
    re.IGNORECASE,
)
_WAIT = re.compile(
    r"(?:retry[\s_-]*after|(?:try|retry)(?:\s+again)?\s+(?:in|after))[^0-9a-z]{0,6}(\d{1,6}(?:\.\d{1,6})?)\s*"
    r"(ms|milliseconds?|s\b|secs?\b|seconds?|m\b|mins?\b|minutes?|h\b|hours?)?",
    re.IGNORECASE,
)
_UNITS_S = {"ms": 0.001, "mi": 60.0, "m": 60.0, "h": 3_600.0, "ho": 3_600.0}


@dataclass(frozen=True, slots=True)
class Limited:
    """The service wants fewer calls."""

    retry_after_s: float | None = None
    """None: it does not say when to come again."""


def limited(result: ToolResult) -> Limited | None:
    """What an answer says of that; None: nothing. Whatever is no error says nothing."""
    if result.status is not Status.ERROR:
        return None
    if result.http_status == _TOO_MANY or (result.http_status == _UNAVAILABLE and result.retry_after_s is not None):
        return Limited(result.retry_after_s)
    if len(result.body) > _LOOKED_AT_BYTES:
        return None
    text = result.body.decode("utf-8", "replace")
    return Limited(result.retry_after_s or _wait(text)) if _WORDS.search(text) else None


def _wait(text: str) -> float | None:
    found = _WAIT.search(text)
    if found is None:
        return None
    unit = (found[2] or "s").lower()
    if unit.startswith("mill"):
        unit = "ms"
    return float(found[1]) * _UNITS_S.get(unit[:2], _UNITS_S.get(unit, 1.0))
