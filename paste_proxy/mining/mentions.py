"""Values that a text mentions: links, paths, dates, numbers, quoted words, names, tags, words of a shape.

Every kind gives distinct values in the order of their first mention.
"""

import re
from collections.abc import Iterable, Iterator

from paste_proxy.mining.dates import dates
from paste_proxy.mining.shapes import telling

DATE = "date"
KINDS = ("url", "path", DATE, "number", "quoted", "name", "tag")
"""The kinds besides `word:SHAPE`."""

_MOST = 60
_URL = re.compile(r"https?://[^\s<>\"'`\]\\^{}|]+")
_PATH = re.compile(
    r"(?<![\w:/.@+~-])(?:[~.]{0,2}/)?(?:[\w.@+-]+/)*[\w@+-][\w.@+-]*\.[A-Za-z]\w{0,9}\b|(?<![\w:/.@+~-])(?:/[\w.@+-]+){2,}"
)
_NUMBER = re.compile(r"[-\d](?<![\w.,].)(?:(?<=-)\d|(?<=\d))(?:\d{0,2}(?:,\d{3})+|\d*)(?:\.\d+)?(?![\w.]\w)")
"""Like others here, it begins with the character and looks back then: only what begins alike is looked at."""
_TAG = re.compile(r"[#@](?<![\w#@].)[A-Za-z]\w+")
_QUOTED = re.compile(
    r"\"([^\"\n]{1,200})\"|'(?<!\w')((?:[^'\n]|'(?=\w)){2,200})'(?!\w)|`([^`\n]{1,120})`|“([^”\n]{1,120})”"
)
_NAME = re.compile(r"[A-Z](?<!\w.)[\w'&.-]*(?: (?:(?:of|the|and|de|la) )?[A-Z][\w'&-]*){0,4}")


def mentioned(kind: str, text: str) -> list[str]:
    """The values of one kind in a text, distinct, in order, at most 60."""
    return list(mentions(kind, text))


def mentions(kind: str, text: str) -> Iterator[str]:
    """The same one by one: the text is read only as far as they are wanted."""
    found: set[str] = set()
    for value in _each(kind, text):
        if value not in found:
            yield value
            found.add(value)
            if len(found) >= _MOST:
                return


def _each(kind: str, text: str) -> Iterable[str]:
    match kind:
        case "url":
            return map(_trim_url, _all(_URL, text))
        case "path":
            return _paths(text)
        case "number":
            return (found.replace(",", "") for found in _all(_NUMBER, text))
        case "quoted":
            return (found[found.lastindex or 0] for found in _QUOTED.finditer(text))
        case "name":
            return _all(_NAME, text)
        case "tag":
            return _all(_TAG, text)
        case _ if kind == DATE:
            return dates(text)
        case _:
            return ()


def _all(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    """What `findall` gives, one by one, so that a long text is read only as far as its values are wanted."""
    return (found[0] for found in pattern.finditer(text))


def _paths(text: str) -> Iterator[str]:
    """The paths, looked for in the few pieces between white space that may be or hold one."""
    for piece in text.split():
        if "/" in piece or "." in piece[1:-1]:
            yield from _PATH.findall(piece)


def words_by_shape(text: str) -> dict[str, list[str]]:
    """The words of a text that are not plain ones, by shape; at most 60 of each."""
    found: dict[str, list[str]] = {}
    for word, shape in dict.fromkeys(telling(text)):
        of_shape = found.setdefault(shape, [])
        if len(of_shape) < _MOST:
            of_shape.append(word)
    return found


def _trim_url(url: str) -> str:
    url = url.rstrip(".,;:!?*")
    extra, end = url.count(")") - url.count("("), len(url)
    while extra > 0 and url[end - 1] == ")":
        extra, end = extra - 1, end - 1
        while url[end - 1] in ".,;:!?*":
            end -= 1
    return url[:end]
