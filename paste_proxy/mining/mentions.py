"""Values that a text mentions: links, paths, dates, numbers, quoted words, names, tags, words of a shape.

Every kind gives distinct values in the order of their first mention. A date is given as ISO 8601; where a
text leaves the year out, it begins with `-` and `dated` fills in the year.
"""

import re
from collections.abc import Iterable

from paste_proxy.mining.shapes import PLAIN, WORD, shape_of

DATE = "date"
KINDS = ("url", "path", DATE, "number", "quoted", "name", "tag")
"""The kinds besides `word:SHAPE`."""

_MOST = 60
_URL = re.compile(r"https?://[^\s<>\"'`\]\\^{}|]+")
_PATH = re.compile(
    r"(?<![\w:/.@+~-])(?:[~.]{0,2}/)?(?:[\w.@+-]+/)*[\w@+-][\w.@+-]*\.[A-Za-z]\w{0,9}\b|(?<![\w:/.@+~-])(?:/[\w.@+-]+){2,}"
)
_NUMBER = re.compile(r"(?<![\w.,])-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w.]\w)")
_TAG = re.compile(r"(?<![\w#@])[#@][A-Za-z]\w+")
_QUOTED = re.compile(r"\"([^\"\n]{1,200})\"|(?<!\w)'((?:[^'\n]|'(?=\w)){2,200})'(?!\w)|`([^`\n]{1,120})`|“([^”\n]{1,120})”")
_NAME = re.compile(r"\b[A-Z][\w'&.-]*(?: (?:(?:of|the|and|de|la) )?[A-Z][\w'&-]*){0,4}")
_MONTH_NAMES = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_MONTHS = {name: number for number, name in enumerate(_MONTH_NAMES.split("|"), 1)}
_MONTH = rf"({_MONTH_NAMES})[a-z]*\.?"
_DATE = re.compile(
    rf"\b(?P<iso>\d{{4}}-\d\d-\d\d)\b|\b{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(?P<year>\d{{4}}))?"
    rf"|\b(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}(?:,?\s+(?P<year2>\d{{4}}))?",
    re.IGNORECASE,
)
_YEAR = re.compile(
    rf"\b(\d{{4}})-\d\d-\d\d|\b(?:{_MONTH_NAMES})[a-z]*\.?(?: \d{{1,2}}(?:st|nd|rd|th)?,?)? (\d{{4}})\b", re.IGNORECASE
)


def mentioned(kind: str, text: str) -> list[str]:
    """The values of one kind in a text, distinct, in order, at most 60."""
    match kind:
        case "url":
            return _distinct(_trim_url(found) for found in _URL.findall(text))
        case "path":
            return _distinct(_PATH.findall(text))
        case "number":
            return _distinct(found.replace(",", "") for found in _NUMBER.findall(text))
        case "quoted":
            return _distinct(next(filter(None, groups)) for groups in _QUOTED.findall(text))
        case "name":
            return _distinct(_NAME.findall(text))
        case "tag":
            return _distinct(_TAG.findall(text))
        case _ if kind == DATE:
            return _distinct(_dates(text))
        case _:
            return []


def words_by_shape(text: str) -> dict[str, list[str]]:
    """The words of a text that are not plain ones, by shape; at most 60 of each."""
    found: dict[str, dict[str, None]] = {}
    for word in WORD.findall(text):
        shape = shape_of(word)
        if shape and shape not in PLAIN:
            of_shape = found.setdefault(shape, {})
            if len(of_shape) < _MOST:
                of_shape[word] = None
    return {shape: list(words) for shape, words in found.items()}


def dated(date: str, year: str | None) -> str | None:
    """A date with `year` filled in where it has none; None if there is no year to fill in."""
    if not date.startswith("-"):
        return date
    return year and year + date


def year_in(text: str) -> str | None:
    """The latest year among the full dates of a text."""
    return max((iso or written for iso, written in _YEAR.findall(text)), default=None)


def _dates(text: str) -> Iterable[str]:
    for found in _DATE.finditer(text):
        if found["iso"]:
            yield found["iso"]
            continue
        groups = found.groups()
        month = _MONTHS[(groups[1] or groups[5]).lower()]
        day = int(found["day"] or found["day2"])
        if 1 <= day <= 31:
            yield f"{found['year'] or found['year2'] or ''}-{month:02}-{day:02}"


def _trim_url(url: str) -> str:
    url = url.rstrip(".,;:!?*")
    while url.endswith(")") and url.count(")") > url.count("("):
        url = url[:-1].rstrip(".,;:!?*")
    return url


def _distinct(values: Iterable[str]) -> list[str]:
    found: dict[str, None] = {}
    for value in values:
        found[value] = None
        if len(found) >= _MOST:
            break
    return list(found)
