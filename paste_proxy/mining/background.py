"""What holds whatever the tools and the project: where training starts from, and what it leans on where it saw little.

It names no tool and holds no value of a session:

next, ever  {TRAIT: WEIGHT} of traits that name no tool, see `forecast/traits.py`
soon, later what their measures are judged to add, see `forecast/judgement.py`
marks       {KIND#RANK: WEIGHT} of where an argument's value was found and how it looks, see `forecast/slot.py`; instead
            of a mapper stands what it has in common with those of other tools, see `forecast/training/kinds.py`
sources     of the sessions that it was learned from; ids, tasks: digests of theirs, see `provenance`
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from paste_proxy.errors import InputFault
from paste_proxy.events.values import Json, brief, canonical_text, loads
from paste_proxy.mining.forecast.judgement import NO_JUDGEMENT, Judgement
from paste_proxy.mining.forecast.judgement_storage import read_judgement, written_judgement
from paste_proxy.mining.notation import table

_FORMAT = "paste-background/1"
_LARGEST = 1e3


@dataclass(frozen=True, slots=True)
class Background:
    """Weights by trait, for the very next call and within the horizon, and by the mark of a kind."""

    next: Mapping[str, float] = field(default_factory=dict)
    ever: Mapping[str, float] = field(default_factory=dict)
    marks: Mapping[str, float] = field(default_factory=dict)
    soon: Judgement = NO_JUDGEMENT
    later: Judgement = NO_JUDGEMENT
    sources: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()


NO_BACKGROUND = Background()


def dump_background(background: Background) -> str:
    """Its JSON text, one weight a line."""
    said: dict[str, Json] = {
        "format": _FORMAT,
        "sources": list(background.sources),
        "ids": list(background.ids),
        "tasks": list(background.tasks),
        "soon": _judged(background.soon),
        "later": _judged(background.later),
    }
    weights = (("next", background.next), ("ever", background.ever), ("marks", background.marks))
    head = [f'"{key}": {canonical_text(value)}' for key, value in said.items()]
    text = "{\n" + ",\n".join([*head, *(f'"{key}": {{\n{_lines(of)}\n}}' for key, of in weights)]) + "\n}\n"
    return text.encode("utf-8", "backslashreplace").decode()  # half a surrogate pair, escaped as JSON has it


def parse_background(text: str, where: str) -> Background:
    """The background of a JSON text; `where` names it in faults.

    Raises:
        InputFault: naming the key that is wrong, what stands there and what was expected.
    """
    try:
        raw: Json = loads(text)
    except ValueError as fault:
        raise InputFault(where, f"no JSON ({fault})", "what `paste-proxy mine --as-background` writes") from fault
    top = table(raw, where)
    if top.get("format") != _FORMAT:
        raise InputFault(f"{where}: format", brief(top.get("format")), f"{_FORMAT!r}")
    next_, ever, marks = (_weights(top.get(key), f"{where}: {key}") for key in ("next", "ever", "marks"))
    sources, ids, tasks = (_texts(top.get(key, []), f"{where}: {key}") for key in ("sources", "ids", "tasks"))
    soon, later = (read_judgement(top.get(key), f"{where}: {key}") for key in ("soon", "later"))
    return Background(next_, ever, marks, soon, later, sources, ids, tasks)


def _lines(weights: Mapping[str, float]) -> str:
    return ",\n".join(f"{canonical_text(name)}: {weight}" for name, weight in sorted(weights.items()))


def _judged(judgement: Judgement) -> Json:
    return written_judgement(judgement) if judgement.outer else None


def _texts(value: Json, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise InputFault(where, brief(value), "a list of texts")
    return tuple(map(str, value))


def _weights(raw: Json, where: str) -> dict[str, float]:
    return {name: _number(weight, f"{where}[{name!r}]") for name, weight in table(raw, where).items()}


def _number(value: Json, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not -_LARGEST <= value <= _LARGEST:
        raise InputFault(where, brief(value), "a number")
    return float(value)
