"""The model as JSON, readable: what each cue speaks for, where each argument comes from, what a trait weighs.

choice      {"bias": {LABEL: WEIGHT}, "cues": {CUE: {LABEL: WEIGHT}}}; a label `=N` is frequent invocation N
frequent    [{"tool": T, "arguments": {...}}]
shapes      {TOOL: [{"names": [...], "share": S, "covered": C}]}
slots       [{"tool", "name", "mappers": [{"from", "take"..., "weights": {MARK: WEIGHT}}], "constants", "phrases",
            "enumerated", "covered", "weights": {MARK: WEIGHT}}]
next, ever  {TRAIT: WEIGHT}
calibration [[predicted, observed]] of `ever`
soon, later {"means": {MEASURE: M}, "spreads": {MEASURE: S}, "inner": {MEASURE: [WEIGHT OF EACH HIDDEN UNIT]}, "shifts",
            "outer": [WEIGHT OF EACH HIDDEN UNIT]}; what a judgement adds to `next` and `ever`, if there is one
"""

from collections.abc import Iterable, Iterator
from typing import Any

from paste_proxy.errors import InputFault
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.values import Json, brief, canonical_text
from paste_proxy.mining.algebra import LiveMapper, named
from paste_proxy.mining.calibration import read_calibration
from paste_proxy.mining.forecast.arguments import Arguments, Shape
from paste_proxy.mining.forecast.choice import Choice
from paste_proxy.mining.forecast.finder import Finder
from paste_proxy.mining.forecast.judgement_storage import read_judgement, written_judgement
from paste_proxy.mining.forecast.model import Model
from paste_proxy.mining.forecast.slot import Constant, Slot
from paste_proxy.mining.notation import read_json, read_mapper, table, written_mapper
from paste_proxy.mining.outlook import Outlook

_LARGEST = 1e6
_LABEL = "="


def dump_model(model: Model) -> str:
    """The JSON text of a model, one cue or slot a line."""
    finder = model.finder
    numbers = {key: f"{_LABEL}{at}" for at, key in enumerate(finder.frequent)}
    weights = finder.choice.weights.items()
    cues = ((cue, {numbers.get(label, label): w for label, w in row.items()}) for cue, row in weights)
    bias = {numbers.get(label, label): weight for label, weight in finder.choice.bias.items()}
    shapes = {
        tool: [{"names": list(one.names), "share": one.share, "covered": one.covered} for one in of]
        for tool, of in finder.arguments.shapes.items()
    }
    frequent = [{"tool": one.tool, "arguments": one.arguments} for one in finder.frequent.values()]
    slots = (canonical_text(_written_slot(slot)) for slot in finder.arguments.slots.values())
    told = _lines(f"{_text(cue)}: {_text(row)}" for cue, row in cues)
    parts = [
        f'"choice": {{"bias": {_in_order(bias)}, "cues": {{\n{told}\n}}}}',
        f'"frequent": [\n{_lines(map(_text, frequent))}\n]',
        f'"shapes": {_text(shapes)}',
        f'"slots": [\n{_lines(slots)}\n]',
        f'"next": {_text(dict(model.next))}',
        f'"ever": {_text(dict(model.ever))}',
        f'"calibration": {_text([list(step) for step in model.calibration.steps])}',
        *(f'"{name}": {_text(one)}' for name, one in _written_judgements(model)),
    ]
    return "{\n" + ",\n".join(parts) + "\n}"


def load_model(raw: Json, where: str, outlook: Outlook) -> Model:
    """The model of a JSON value; `where` names it in faults.

    Raises:
        InputFault: naming the key that is wrong, what stands there and what was expected.
    """
    top = table(raw, where)
    frequent = [
        _read_invocation(one, f"{where}.frequent[{at}]") for at, one in enumerate(_list(top, "frequent", where))
    ]
    choice = table(top.get("choice"), f"{where}.choice")
    label = _Labels(frequent)
    cues = table(choice.get("cues"), f"{where}.choice.cues")
    slots = [_read_slot(one, f"{where}.slots[{at}]") for at, one in enumerate(_list(top, "slots", where))]
    arguments = Arguments(_read_shapes(top, where), {(slot.tool, slot.name): slot for slot in slots})
    _complete(arguments, where)
    soon, later = (read_judgement(top.get(name), f"{where}.{name}") for name in ("soon", "later"))
    finder = Finder(
        Choice(
            label.of(_weights(choice, "bias", f"{where}.choice")),
            {cue: label.of(_told(row, f"{where}.choice.cues[{cue!r}]")) for cue, row in cues.items()},
        ),
        {one.key: one for one in frequent},
        arguments,
        outlook,
        judged=bool(soon.outer or later.outer),
    )
    calibration = read_calibration(top.get("calibration", []), f"{where}.calibration")
    for cue, row in finder.choice.weights.items():
        if strange := row.keys() - finder.choice.bias.keys():
            raise InputFault(f"{where}.choice.cues[{cue!r}]", brief(min(strange)), "a label that the bias has")
    return Model(finder, _weights(top, "next", where), _weights(top, "ever", where), calibration, soon, later)


def _written_judgements(model: Model) -> Iterator[tuple[str, Json]]:
    for name, judgement in (("soon", model.soon), ("later", model.later)):
        if judgement.outer:
            yield name, written_judgement(judgement)


class _Labels:
    def __init__(self, frequent: list[Invocation]) -> None:
        self._keys = {f"{_LABEL}{at}": one.key for at, one in enumerate(frequent)}

    def of(self, weights: dict[str, float]) -> dict[str, float]:
        return {self._keys.get(label, label): weight for label, weight in weights.items()}


def _text(value: Any) -> str:
    return canonical_text(value)


def _in_order(weights: dict[str, float]) -> str:
    """As it stands: labels that are equally likely come in the order of the bias."""
    return "{" + ",".join(f"{_text(label)}:{_text(weight)}" for label, weight in weights.items()) + "}"


def _lines(texts: Iterable[str]) -> str:
    return ",\n".join(texts)


# --- slots -----------------------------------------------------------------------------------------


def _written_slot(slot: Slot) -> dict[str, Json]:
    mappers: list[Json] = []
    own: set[str] = set()
    for name, mapper in slot.mappers:
        prefix = name + "#"
        weights = {mark: weight for mark, weight in slot.weights.items() if mark.startswith(prefix)}
        own.update(weights)
        mappers.append({**written_mapper(mapper), "weights": {m.removeprefix(prefix): w for m, w in weights.items()}})
    rest: dict[str, Json] = {mark: weight for mark, weight in slot.weights.items() if mark not in own}
    return {
        "tool": slot.tool,
        "name": slot.name,
        "mappers": mappers,
        "constants": [[constant.value, constant.share] for constant in slot.constants],
        "phrases": dict(slot.phrases),
        "enumerated": slot.enumerated,
        "covered": slot.covered,
        "weights": rest,
    }


def _read_slot(raw: Json, where: str) -> Slot:
    written = table(raw, where)
    tool, name = (_string(written.get(key), f"{where}.{key}") for key in ("tool", "name"))
    phrases = table(written.get("phrases", {}), f"{where}.phrases")
    mappers: list[tuple[str, LiveMapper]] = []
    weights = _weights(written, "weights", where)
    for at, one in enumerate(_list(written, "mappers", where)):
        place = f"{where}.mappers[{at}]"
        parts = dict(table(one, place))
        own = _weights(parts, "weights", place)
        del parts["weights"]
        mapper = read_mapper(parts, place)
        if not isinstance(mapper, LiveMapper):
            raise InputFault(place, "a constant", "a mapper that takes values from the session")
        mappers.append((named(mapper), mapper))
        weights |= {f"{named(mapper)}#{mark}": weight for mark, weight in own.items()}
    return Slot(
        tool,
        name,
        tuple(mappers),
        tuple(
            _read_constant(one, f"{where}.constants[{at}]") for at, one in enumerate(_list(written, "constants", where))
        ),
        {phrase: read_json(value, f"{where}.phrases[{phrase!r}]") for phrase, value in phrases.items()},
        enumerated=_bool(written.get("enumerated", False), f"{where}.enumerated"),
        weights=weights,
        covered=_share(written.get("covered"), f"{where}.covered", 1e-6),
    )


def _read_constant(raw: Json, where: str) -> Constant:
    if not isinstance(raw, list) or len(raw) != 2:
        raise InputFault(where, brief(raw), "[value, share]")
    return Constant(read_json(raw[0], where), _share(raw[1], where))


def _read_shapes(top: dict[str, Json], where: str) -> dict[str, tuple[Shape, ...]]:
    shapes = table(top.get("shapes", {}), f"{where}.shapes")
    return {
        tool: tuple(_read_shape(one, f"{where}.shapes.{tool}") for one in _list(shapes, tool, f"{where}.shapes"))
        for tool in shapes
    }


def _read_shape(raw: Json, where: str) -> Shape:
    written = table(raw, where)
    names = tuple(_string(name, f"{where}.names") for name in _list(written, "names", where))
    return Shape(
        names, _share(written.get("share"), f"{where}.share"), _share(written.get("covered"), f"{where}.covered")
    )


def _complete(arguments: Arguments, where: str) -> None:
    for tool, shapes in arguments.shapes.items():
        for name in (name for shape in shapes for name in shape.names):
            if (tool, name) not in arguments.slots:
                raise InputFault(f"{where}.shapes.{tool}", f"an argument {name!r}", "arguments that have a slot")


# --- values ----------------------------------------------------------------------------------------


def _read_invocation(raw: Json, where: str) -> Invocation:
    written = table(raw, where)
    arguments = table(written.get("arguments"), f"{where}.arguments")
    read_json(arguments, f"{where}.arguments")
    return Invocation(_string(written.get("tool"), f"{where}.tool"), arguments)


def _list(written: dict[str, Json], key: str, where: str) -> Iterator[Json]:
    value = written.get(key)
    if not isinstance(value, list):
        raise InputFault(f"{where}.{key}", brief(value), "a list")
    return iter(value)


def _string(value: Json, where: str) -> str:
    if not isinstance(value, str):
        raise InputFault(where, brief(value), "a text")
    return value


def _bool(value: Json, where: str) -> bool:
    if not isinstance(value, bool):
        raise InputFault(where, brief(value), "true or false")
    return value


def _share(value: Json, where: str, least: float = 0.0) -> float:
    """A probability; one that divides is kept above nothing."""
    number = _number(value, where)
    if not 0 <= number <= 1:
        raise InputFault(where, brief(value), "a number from 0 to 1")
    return max(number, least)


def _number(value: Json, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not -_LARGEST <= value <= _LARGEST:
        raise InputFault(where, brief(value), "a number")
    return float(value)


def _weights(written: dict[str, Json], key: str, where: str) -> dict[str, float]:
    return _told(written.get(key), f"{where}.{key}")


def _told(raw: Json, where: str) -> dict[str, float]:
    return {name: _number(weight, f"{where}[{name!r}]") for name, weight in table(raw, where).items()}
