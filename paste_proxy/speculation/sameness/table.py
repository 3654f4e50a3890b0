"""The `same` table of a policy's rule, as people write it.

same = { ignore = ["description"] }
same = { lines = { head = "head", tail = "tail" } }
same = { lines = { from = "offset", count = "limit", numbered = true, most = 2000 } }
same = { shell = { command = "command", folder = "cwd" }, seconds = { timeout = 0.001 } }
"""

from collections.abc import Mapping
from typing import cast

from paste_proxy.errors import InputFault
from paste_proxy.events.values import Json, canonical_text
from paste_proxy.speculation.fields import Fields
from paste_proxy.speculation.sameness.lines import Ends, Lines, Range
from paste_proxy.speculation.sameness.sameness import NOTHING_SAME, Sameness
from paste_proxy.speculation.sameness.shell import Shell

_KEYS = ("ignore", "defaults", "seconds", "at_most", "lines", "shell")
_ENDS = ("head", "tail")
_RANGE = ("from", "count", "numbered", "most")


def read_sameness(value: object, place: str) -> Sameness:
    """What a `same` table says.

    Raises:
        InputFault: something in it is malformed; the fault names the key.
    """
    if value is None:
        return NOTHING_SAME
    table = _table(value, place)
    fields = Fields(table, place)
    fields.refuse_unknown(_KEYS)
    return Sameness(
        ignore=_ignored(fields),
        defaults=_defaults(table.get("defaults", {}), f"{place}.defaults"),
        seconds=_numbers(table.get("seconds", {}), f"{place}.seconds", "seconds in one unit"),
        at_most=_numbers(table.get("at_most", {}), f"{place}.at_most", "the bound without the argument"),
        lines=_lines(table["lines"], f"{place}.lines") if "lines" in table else None,
        shell=_shell(table["shell"], f"{place}.shell") if "shell" in table else None,
    )


def _table(value: object, place: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise InputFault(place, repr(value), 'a table, as in { ignore = ["description"] }')
    return value


def _ignored(fields: Fields) -> frozenset[str]:
    value = fields.value("ignore")
    names = [] if value is None else value
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        raise fields.fault("ignore", 'a list of arguments, as in ["description"]')
    return frozenset(names)


def _defaults(value: object, place: str) -> Mapping[str, Json]:
    table = cast("Mapping[str, Json]", _table(value, place))
    for name, default in table.items():
        try:
            canonical_text(default)
        except (TypeError, ValueError) as fault:
            raise InputFault(f"{place}.{name}", repr(default), "a value that JSON has, too") from fault
    return table


def _numbers(value: object, place: str, unit: str) -> Mapping[str, float]:
    table = _table(value, place)
    fields = Fields(table, place)
    return {name: number for name in table if (number := fields.above_zero(name, unit)) is not None}


def _lines(value: object, place: str) -> Lines:
    table = _table(value, place)
    fields = Fields(table, place)
    if table.keys() & set(_ENDS):
        fields.refuse_unknown(_ENDS)
        return Ends(head=fields.name("head") or "", tail=fields.name("tail") or "")
    fields.refuse_unknown(_RANGE)
    start, count = fields.name("from"), fields.name("count")
    if start is None or count is None:
        raise InputFault(place, repr(dict(table)), "from and count, or head and tail: the names of arguments")
    most = fields.above_zero("most", "a number of lines")
    return Range(
        start=start,
        count=count,
        numbered=fields.flag("numbered", default=False),
        most=None if most is None else int(most),
    )


def _shell(value: object, place: str) -> Shell:
    fields = Fields(_table(value, place), place)
    fields.refuse_unknown(("command", "folder"))
    command = fields.name("command")
    if command is None:
        raise fields.fault("command", "the name of the argument that is the command")
    return Shell(command, fields.name("folder") or "")
