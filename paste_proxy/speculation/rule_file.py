"""A policy as people write it: a TOML file of `[[rule]]` tables.

Nothing malformed is read as something else: a policy that is misread would run a tool nobody allowed.
"""

import re
from collections.abc import Iterator
from typing import TypeGuard

from paste_proxy.errors import InputFault
from paste_proxy.events.invocation import name_of, server_of
from paste_proxy.events.toml import read_toml
from paste_proxy.speculation.budgets.allotment import ALLOTMENT_KEYS, read_allotment
from paste_proxy.speculation.conditions import read_conditions
from paste_proxy.speculation.domains import WRITTEN
from paste_proxy.speculation.fields import Fields
from paste_proxy.speculation.preparation import read_preparations
from paste_proxy.speculation.rehearsal import read_rehearsal
from paste_proxy.speculation.rules import Effect, Glob, Rule
from paste_proxy.speculation.sameness.table import read_sameness
from paste_proxy.speculation.types import Destination, Mode

_GLOB = re.compile(r"(?:[^\s\[\]]|\[[^\s\[\]]+\])+")
_ANY = re.compile(r"[*?]*")
_KEYS = (
    "tool",
    "server",
    "when",
    "commands",
    "effect",
    "speculate",
    "stage",
    "approval",
    "destination",
    "prepare",
    "rehearse",
    "reads",
    "writes",
    "ttl_s",
    "reuse_s",
    "mode",
    "min_confidence",
    "expected_s",
    *ALLOTMENT_KEYS,
    "same",
)
_A_GLOB = "a glob without white space, its brackets closed"


def read_rules(text: str, where: str) -> tuple[Rule, ...]:
    """The rules of a policy file, in its order.

    Raises:
        InputFault: something in it is malformed; the fault names the file, the rule's number and the key.
    """
    tables, faults = rule_tables(text, where)
    for fault in faults:
        raise fault
    return tuple(read_rule(table, place) for place, table in tables)


def rule_tables(text: str, where: str) -> tuple[list[tuple[str, object]], list[InputFault]]:
    """The places and tables of a policy file, unread, and what is wrong around them.

    Raises:
        InputFault: it is no TOML.
    """
    tree = read_toml(text, where, "a TOML file of [[rule]] tables")
    faults = [
        InputFault(f"{where}: {key}", "unknown key", "default or [[rule]] tables")
        for key in tree
        if key not in ("default", "rule")
    ]
    if tree.get("default", "deny") != "deny":
        faults.append(InputFault(f"{where}: default", repr(tree["default"]), '"deny", the only default there is'))
    tables = tree.get("rule", [])
    if not isinstance(tables, list):
        found = f"a {type(tables).__name__}"
        faults.append(InputFault(f"{where}: rule", found, "[[rule]] tables, in double brackets"))
        tables = []
    return [(f"{where}: rule {number}", table) for number, table in enumerate(tables, 1)], faults


def read_rule(table: object, place: str) -> Rule:
    """The rule of a table.

    Raises:
        InputFault: something in it is malformed, or contradicts itself.
    """
    if not isinstance(table, dict):
        raise InputFault(place, repr(table), "a [[rule]] table")
    fields = Fields(table, place)
    fields.refuse_unknown(_KEYS)
    tools = _tools(fields)
    effect = fields.choice("effect", Effect)
    if effect is None:
        raise InputFault(f"{place}: effect", "nothing", '"read", "write" or "annotated"')
    approval = fields.flag("approval", default=False)
    same = read_sameness(fields.value("same"), f"{place}: same")
    conditions = read_conditions(fields, shell=same.shell is not None)
    rule = Rule(
        place=place,
        tools=tools,
        conditions=conditions,
        effect=effect,
        speculate=fields.flag("speculate", default=effect is not Effect.WRITE and not approval),
        stage=fields.flag("stage", default=False),
        approval=approval,
        destination=fields.choice("destination", Destination),
        prepare=read_preparations(fields),
        rehearse=read_rehearsal(fields, conditions),
        reads=_domains(fields, "reads"),
        writes=_domains(fields, "writes"),
        ttl_s=fields.seconds("ttl_s"),
        reuse_s=fields.seconds("reuse_s"),
        mode=fields.choice("mode", Mode) or Mode.SPECULATE,
        min_confidence=fields.share("min_confidence"),
        expected_s=fields.seconds("expected_s"),
        allotment=read_allotment(fields),
        same=same,
    )
    for key, found, expected in _contradictions(rule):
        raise InputFault(f"{place}: {key}", found, expected)
    return rule


def _contradictions(rule: Rule) -> Iterator[tuple[str, str, str]]:
    """Keys of a rule that do not go with the rest of it, what is wrong, and what would be right."""
    if rule.approval and rule.ahead:
        key = "speculate" if rule.speculate else "stage"
        yield key, "true beside approval = true", "neither: what a person is asked about is never run ahead"
    if rule.approval and rule.reuse_s is not None:
        yield "reuse_s", "beside approval = true", "none: what a person has allowed is done"
    if rule.rehearse is not None and rule.ahead:
        found = f"beside {'stage' if rule.stage else 'speculate'} = true"
        yield "rehearse", found, "speculate = false, or none: what is run ahead itself is not rehearsed"
    if rule.effect is Effect.WRITE and rule.speculate:
        expected = "false: a write is never run ahead; stage = true runs a command in a view of its own"
        yield "speculate", "true for a write", expected
    if rule.effect is Effect.WRITE and rule.reuse_s is not None:
        expected = "none: a write that is asked for again is done again"
        yield "reuse_s", f"{rule.reuse_s:g} for a write", expected
    if rule.effect is not Effect.WRITE and rule.stage:
        found = "true for a read" if rule.effect is Effect.READ else "true for what may be a read"
        yield "stage", found, 'speculate = true, or effect = "write"'
    if rule.effect is Effect.READ and rule.writes:
        yield "writes", f"{sorted(rule.writes)} for a read", 'no writes, or effect = "write"'
    if rule.effect is Effect.ANNOTATED:
        for glob in rule.tools:
            if _ANY.fullmatch(glob.server):
                found = f'"annotated" for {str(glob)!r}'
                yield "effect", found, "a server that is named: what servers say of themselves is believed of no other"


def _tools(fields: Fields) -> tuple[Glob, ...]:
    servers, names = _globs(fields, "server"), _globs(fields, "tool")
    if not names:
        raise fields.fault("tool", f"{_A_GLOB}, as in 'get_*' or 'files/read_*', or a list of such")
    return tuple(_glob(fields, server, name) for server in servers or [""] for name in names)


def _globs(fields: Fields, key: str) -> list[str]:
    value = fields.value(key)
    if value is None:
        return []
    listed = value if isinstance(value, list) else [value]
    globs = [each for each in listed if _is_glob(each)]
    if not globs or len(globs) < len(listed):
        raise fields.fault(key, f"{_A_GLOB}, or a list of such")
    return globs


def _glob(fields: Fields, server: str, glob: str) -> Glob:
    if "/" not in glob:
        return Glob(server, glob)
    if server:
        raise fields.fault("tool", "bare names, because the rule gives its server apart")
    if not (server_of(glob) and name_of(glob)):
        raise fields.fault("tool", "a server and a name around the slash")
    return Glob(server_of(glob), name_of(glob))


def _domains(fields: Fields, key: str) -> frozenset[str] | None:
    value = fields.value(key)
    if value is None:
        return None
    if not isinstance(value, list):
        raise fields.fault(key, 'a list of effect domains, as in ["workspace"]')
    for domain in value:
        if not isinstance(domain, str) or not WRITTEN.fullmatch(domain):
            raise fields.fault(key, 'effect domains such as "web", "crm:orders:{order_id}", "shop:{session}" or "*"')
    return frozenset(value)


def _is_glob(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and _GLOB.fullmatch(value) is not None
