"""Light normalisations between a value where it stands and the argument it becomes.

A form changes one value; a frame sets it into a text (`cat {}`) or into a list of one (`[]`).
"""

from collections.abc import Callable, Iterator
from math import isfinite

from paste_proxy.events.values import Json, canonical_text
from paste_proxy.mining.mentions import mentioned, words_by_shape

SLOT = "{}"
LISTED = "[]"
_LONGEST_FRAMED = 300


def _number(value: Json) -> Json:
    if not isinstance(value, str) or not value.isascii():
        return None
    try:
        number = int(value) if value.removeprefix("-").isdigit() else float(value)
    except ValueError:
        return None
    return number if isfinite(number) else None


def _real(value: Json) -> Json:
    number = _number(value) if isinstance(value, str) else value
    return float(number) if isinstance(number, int) and not isinstance(number, bool) else None


def _changed(change: Callable[[str], str]) -> Callable[[Json], Json]:
    return lambda value: change(value) if isinstance(value, str) else None


def _text(value: Json) -> Json:
    return canonical_text(value) if isinstance(value, int | float) else None


FORMS: dict[str, Callable[[Json], Json]] = {
    "": lambda value: value,
    "text": _text,
    "number": _number,
    "real": _real,
    "lower": _changed(str.lower),
    "upper": _changed(str.upper),
    "title": _changed(str.title),
}
"""By name; each gives None where it does not apply."""


def same(one: Json, other: Json) -> bool:
    """Equality that keeps `1`, `1.0`, `true` and `"1"` apart, at any depth."""
    if isinstance(one, list | dict) or isinstance(other, list | dict):
        return type(one) is type(other) and canonical_text(one) == canonical_text(other)
    return type(one) is type(other) and one == other


def form_between(value: Json, wanted: Json) -> str | None:
    """The first form that makes `wanted` of a value, None if there is none."""
    return next((name for name, change in FORMS.items() if same(change(value), wanted)), None)


def framed(frame: str, value: Json) -> Json:
    """A value set into its frame; None if the frame takes texts only and it is none."""
    if not frame:
        return value
    if frame == LISTED:
        return [value]
    return frame.replace(SLOT, value, 1) if isinstance(value, str) else None


def unframed(argument: Json) -> Iterator[tuple[str, Json]]:
    """The ways to see an argument as a framed value: as it stands first."""
    yield "", argument
    if isinstance(argument, list) and len(argument) == 1:
        yield LISTED, argument[0]
    if isinstance(argument, str) and len(argument) <= _LONGEST_FRAMED and SLOT not in argument:
        inner = [*mentioned("url", argument), *mentioned("path", argument)]
        inner += [word for words in words_by_shape(argument).values() for word in words]
        for value in dict.fromkeys(inner):
            if value != argument and len(value) > 2:
                yield argument.replace(value, SLOT, 1), value
