"""What is wrong with a policy, all of it: faults of its rules, and rules that can never decide."""

import re
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy

from paste_proxy.errors import InputFault
from paste_proxy.speculation.rule_file import read_rule, rule_tables
from paste_proxy.speculation.rules import Glob, Rule

_MENDED = {"tool": "tool", "server": "server"}
"""What stands for a name that cannot be read, so that the rest of its rule can."""
_CLASS = re.compile(r"\[[^\]]+\]")


def checked(text: str, where: str) -> tuple[list[Rule], list[InputFault]]:
    """The sound rules of a policy file, and every fault of it; of one that is no TOML, that fault."""
    try:
        tables, faults = rule_tables(text, where)
    except InputFault as fault:
        return [], [fault]
    rules = []
    for place, table in tables:
        rule, found = _checked(deepcopy(table), place)
        faults += found
        if rule is not None:
            rules.append(rule)
    return rules, faults


def _checked(table: object, place: str) -> tuple[Rule | None, list[InputFault]]:
    """A rule, if it is sound, and its faults: each is mended to see whether there is another behind it."""
    faults: list[InputFault] = []
    while True:
        try:
            rule = read_rule(table, place)
        except InputFault as fault:
            again = any(fault.where == other.where and fault.found == other.found for other in faults)
            if again or not isinstance(table, dict):
                return None, faults if again else [fault]
            faults.append(fault)
            _mend(table, fault.where.removeprefix(place).lstrip(": "))
        else:
            return None if faults else rule, faults


def _mend(table: dict[str, object], key: str) -> None:
    """Take out of a rule's table what is at fault, in a way that makes no new fault."""
    top, _, inner = key.partition(".")
    top = top.partition(":")[0]
    if top == "effect":
        table["effect"] = "write" if table.get("stage") is True or "writes" in table else "read"
    elif top in _MENDED:
        table[top] = _MENDED[top]
    elif top == "when" and isinstance(when := table.get("when"), dict) and inner in when and len(when) > 1:
        del when[inner]
    else:
        table.pop(top, None)
        if top == "same":
            table.pop("commands", None)


def overshadowed(rules: Sequence[Rule]) -> Iterator[tuple[Rule, Rule]]:
    """Rules that can never decide, each with one before it that names the same tools and means every call it means."""
    for number, rule in enumerate(rules):
        hiding = [_hiding(glob, rule, rules[:number]) for glob in rule.tools]
        found = [other for other in hiding if other is not None]
        if len(found) == len(hiding):
            yield rule, found[0]


def _hiding(glob: Glob, rule: Rule, before: Iterable[Rule]) -> Rule | None:
    for other in before:
        alike = other.conditions == rule.conditions and other.same == rule.same
        if (alike or not other.conditions) and any(_covers(wide, glob) for wide in other.tools):
            return other
    return None


def _covers(wide: Glob, narrow: Glob) -> bool:
    """Whether one names every tool that the other names; False where that is not plain."""
    if bool(wide.server) is not bool(narrow.server):
        return False
    return _within(narrow.server, wide.server) and _within(narrow.name, wide.name)


def _within(narrow: str, wide: str) -> bool:
    """Whether every text of one glob is one of the other, which may hold no other wildcards than `*`."""
    if narrow == wide:
        return True
    if any(character in wide for character in "?["):
        return False
    pattern = ".*".join(re.escape(part) for part in wide.split("*"))
    # Any text stands for a wildcard, as long as only a `*` can take it in.
    return re.fullmatch(pattern, _CLASS.sub("\0", narrow).replace("*", "\0").replace("?", "\0"), re.DOTALL) is not None
