"""A judgement as JSON, by the names of its measures; the names of those that a later version knows are refused."""

from paste_proxy.errors import InputFault
from paste_proxy.events.values import Json, brief
from paste_proxy.mining.forecast.judgement import NO_JUDGEMENT, Judgement
from paste_proxy.mining.forecast.measures import MEASURES
from paste_proxy.mining.notation import table

_LARGEST = 1e6
_LEAST_SPREAD = 1e-4
_MOST_HIDDEN = 256


def written_judgement(judgement: Judgement) -> Json:
    """Its JSON value."""
    return {
        "means": dict(zip(MEASURES, judgement.means, strict=True)),
        "spreads": dict(zip(MEASURES, judgement.spreads, strict=True)),
        "inner": {name: list(row) for name, row in zip(MEASURES, judgement.inner, strict=True)},
        "shifts": list(judgement.shifts),
        "outer": list(judgement.outer),
    }


def read_judgement(raw: Json, where: str) -> Judgement:
    """The judgement of a JSON value; `where` names it in faults.

    Raises:
        InputFault: naming the key that is wrong, what stands there and what was expected.
    """
    if raw is None:
        return NO_JUDGEMENT
    written = table(raw, where)
    outer = _numbers(written.get("outer"), f"{where}.outer", _MOST_HIDDEN)
    shifts = _numbers(written.get("shifts"), f"{where}.shifts", len(outer), len(outer))
    means, spreads, inner = (_by_measure(written, key, where) for key in ("means", "spreads", "inner"))
    return Judgement(
        tuple(_number(means[name], f"{where}.means[{name!r}]") for name in MEASURES),
        tuple(max(_LEAST_SPREAD, _number(spreads[name], f"{where}.spreads[{name!r}]")) for name in MEASURES),
        tuple(_numbers(inner[name], f"{where}.inner[{name!r}]", len(outer), len(outer)) for name in MEASURES),
        shifts,
        outer,
    )


def _by_measure(written: dict[str, Json], key: str, where: str) -> dict[str, Json]:
    found = table(written.get(key), f"{where}.{key}")
    if missing := set(MEASURES) - found.keys():
        raise InputFault(f"{where}.{key}[{min(missing)!r}]", "nothing", "a value for each measure")
    if strange := found.keys() - set(MEASURES):
        raise InputFault(f"{where}.{key}[{min(strange)!r}]", "an unknown name", f"measures: {', '.join(MEASURES)}")
    return found


def _numbers(raw: Json, where: str, most: int, least: int = 1) -> tuple[float, ...]:
    if not isinstance(raw, list) or not least <= len(raw) <= most:
        raise InputFault(where, brief(raw), f"a list of {least} to {most} numbers")
    return tuple(_number(value, f"{where}[{at}]") for at, value in enumerate(raw))


def _number(value: Json, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not -_LARGEST <= value <= _LARGEST:
        raise InputFault(where, brief(value), "a number")
    return float(value)
