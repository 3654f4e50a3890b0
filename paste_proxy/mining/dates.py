"""Dates that a text mentions, as ISO 8601. A date without a year begins with `-`; `dated` fills one in."""

import re
from collections.abc import Iterator

_MONTH_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS = {name: number for number, name in enumerate(_MONTH_NAMES, 1)}
_NAME = "|".join(_MONTH_NAMES)
_MONTH = rf"({_NAME})[a-z]*\.?"
_DATE = re.compile(
    rf"\b(?P<iso>\d{{4}}-\d\d-\d\d)\b|\b{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(?P<year>\d{{4}}))?"
    rf"|\b(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}(?:,?\s+(?P<year2>\d{{4}}))?",
    re.IGNORECASE,
)
_YEAR = re.compile(
    rf"\b(\d{{4}})-\d\d-\d\d|\b(?:{_NAME})[a-z]*\.?(?: \d{{1,2}}(?:st|nd|rd|th)?,?)? (\d{{4}})\b", re.IGNORECASE
)
_AFTER_BLANK = re.compile(r" (\d{4})\b")
_AFTER_YEAR = re.compile(r"-(?=\d\d-\d\d)")
_GROWS = "\N{LATIN CAPITAL LETTER I WITH DOT ABOVE}"
"""The one letter that is two characters in lower case."""
_OF, _ORDINALS = "of", ("st", "nd", "rd", "th")


def dates(text: str) -> Iterator[str]:
    """The dates of a text in the order of their mention."""
    for found in _matches(_DATE, text):
        if found["iso"]:
            yield found["iso"]
            continue
        groups = found.groups()
        month = _MONTHS[(groups[1] or groups[5]).lower()]
        day = int(found["day"] or found["day2"])
        if 1 <= day <= 31:
            yield f"{found['year'] or found['year2'] or ''}-{month:02}-{day:02}"


def dated(date: str, year: str | None) -> str | None:
    """A date with `year` filled in where it has none; None if there is no year to fill in."""
    if not date.startswith("-"):
        return date
    return year and year + date


def year_in(text: str, beyond: str = "") -> str | None:
    """The latest year among the full dates of a text; None if it is not `beyond` another one."""
    if all(year <= beyond for year in _years(text)):
        return None
    latest = max((found[1] or found[2] for found in _matches(_YEAR, text)), default="")
    return latest if latest > beyond else None


def _years(text: str) -> Iterator[str]:
    """What may be the year of a full date."""
    yield from _AFTER_BLANK.findall(text)
    before = (text[max(0, found.start() - 4) : found.start()] for found in _AFTER_YEAR.finditer(text))
    yield from filter(str.isdecimal, before)


def _matches(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """What `finditer` gives, tried only where a date may begin: of a long text that is a small part."""
    end = 0
    for start in sorted(set(_starts(text))):
        if start >= end and (found := pattern.match(text, start)):
            yield found
            end = found.end()


def _starts(text: str) -> Iterator[int]:
    """Every place where a date may begin, and some more."""
    yield from (found.start() - 4 for found in _AFTER_YEAR.finditer(text) if found.start() >= 4)
    lower = text.replace(_GROWS, "i").lower()
    for name in _MONTH_NAMES:
        at = lower.find(name)
        while at >= 0:
            if not (at and (text[at - 1].isalnum() or text[at - 1] == "_")):
                yield at
                yield from _day_before(text[:at])
            at = lower.find(name, at + 1)


def _day_before(text: str) -> Iterator[int]:
    """Where the day may begin in a text that a month follows: at either of its last two characters but for `th of`."""
    before = text.rstrip()
    if before[-2:].lower() == _OF:
        before = before[:-2].rstrip()
    if before[-2:].lower() in _ORDINALS:
        before = before[:-2]
    if before[-1:].isdecimal():
        yield from range(max(0, len(before) - 2), len(before))
