"""Policy rules as people write them: a TOML file of `[[rule]]` tables.

Nothing malformed is read as something else: a policy that is misread would run a tool nobody allowed.
"""

import re
import tomllib
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from math import isfinite
from typing import TypeVar

from paste_proxy.errors import InputFault
from paste_proxy.events.invocation import name_of, server_of
from paste_proxy.speculation.types import Mode

_GLOB = re.compile(r"(?:[^\s\[\]]|\[[^\s\[\]]+\])+")
_DOMAIN = re.compile(r"\*|[A-Za-z0-9_.-]+(?::[A-Za-z0-9_.-]+)*")
_KEYS = ("tool", "server", "effect", "speculate", "reads", "writes", "ttl_s", "mode", "min_confidence", "expected_s")
_Choice = TypeVar("_Choice", bound=StrEnum)


class Effect(StrEnum):
    """What a tool may do to the world."""

    READ = "read"
    WRITE = "write"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What a person says about the tools whose server and name match two globs."""

    place: str
    """File and number, for people: `policies/research.toml: rule 2`."""
    server: str
    """Glob of the server's name; empty: the tools that no server owns, and only those."""
    name: str
    """Glob of the tool's bare name."""
    effect: Effect
    speculate: bool
    reads: frozenset[str] | None = None
    """Effect domains; None: the server's own."""
    writes: frozenset[str] | None = None
    """Effect domains of a write; None: all that the server has."""
    ttl_s: float | None = None
    mode: Mode = Mode.SPECULATE
    min_confidence: float | None = None
    expected_s: float | None = None

    def of_server(self, server: str) -> bool:
        """Whether the rule speaks about tools of this server."""
        return fnmatchcase(server, self.server) if server and self.server else server == self.server

    def names(self, tool: str) -> bool:
        """Whether the rule speaks about this tool (an identity)."""
        return self.of_server(server_of(tool)) and fnmatchcase(name_of(tool), self.name)


def read_rules(text: str, where: str) -> tuple[Rule, ...]:
    """The rules of a policy file, in its order.

    Raises:
        InputFault: something in it is malformed; the fault names the file, the rule's number and the key.
    """
    try:
        tree = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as fault:
        raise InputFault(where, f"is not TOML ({fault})", "a TOML file of [[rule]] tables") from fault
    for key in tree:
        if key not in ("default", "rule"):
            raise InputFault(f"{where}: {key}", "unknown key", "default or [[rule]] tables")
    if tree.get("default", "deny") != "deny":
        raise InputFault(f"{where}: default", repr(tree["default"]), '"deny", the only default there is')
    tables = tree.get("rule", [])
    if not isinstance(tables, list):
        raise InputFault(f"{where}: rule", f"a {type(tables).__name__}", "[[rule]] tables, in double brackets")
    return tuple(_read_rule(table, f"{where}: rule {number}") for number, table in enumerate(tables, 1))


def _read_rule(table: object, place: str) -> Rule:
    if not isinstance(table, dict):
        raise InputFault(place, repr(table), "a [[rule]] table")
    fields = _Fields(table, place)
    fields.refuse_unknown(_KEYS)
    server, name = fields.server_and_name()
    effect = fields.choice("effect", Effect)
    if effect is None:
        raise InputFault(f"{place}: effect", "nothing", '"read" or "write"')
    speculate = fields.flag("speculate", default=effect is Effect.READ)
    if effect is Effect.WRITE and speculate:
        raise InputFault(f"{place}: speculate", "true for a write", "false: a write is never run ahead")
    writes = fields.domains("writes")
    if effect is Effect.READ and writes:
        raise InputFault(f"{place}: writes", f"{sorted(writes)} for a read", 'no writes, or effect = "write"')
    return Rule(
        place=place,
        server=server,
        name=name,
        effect=effect,
        speculate=speculate,
        reads=fields.domains("reads"),
        writes=writes,
        ttl_s=fields.seconds("ttl_s"),
        mode=fields.choice("mode", Mode) or Mode.SPECULATE,
        min_confidence=fields.share("min_confidence"),
        expected_s=fields.seconds("expected_s"),
    )


class _Fields:
    """One rule's table; every reader answers None for an absent key."""

    def __init__(self, table: dict[str, object], place: str) -> None:
        self._table, self._place = table, place

    def _fault(self, key: str, expected: str) -> InputFault:
        found = repr(self._table[key]) if key in self._table else "nothing"
        return InputFault(f"{self._place}: {key}", found, expected)

    def refuse_unknown(self, keys: Collection[str]) -> None:
        for key in self._table:
            if key not in keys:
                raise InputFault(f"{self._place}: {key}", "unknown key", f"one of {', '.join(keys)}")

    def server_and_name(self) -> tuple[str, str]:
        server, tool = self._glob("server"), self._glob("tool")
        if tool is None:
            raise self._fault("tool", "a glob of tool names, as in 'get_*' or 'files/read_*'")
        if "/" not in tool:
            return server or "", tool
        if server is not None:
            raise self._fault("tool", "a bare name, because the rule gives its server apart")
        if not (server_of(tool) and name_of(tool)):
            raise self._fault("tool", "a server and a name around the slash")
        return server_of(tool), name_of(tool)

    def _glob(self, key: str) -> str | None:
        value = self._table.get(key)
        if value is None:
            return None
        if not isinstance(value, str) or not _GLOB.fullmatch(value):
            raise self._fault(key, "a glob without white space: *, ?, and [...] closed")
        return value

    def choice(self, key: str, choices: type[_Choice]) -> _Choice | None:
        if key not in self._table:
            return None
        for choice in choices:
            if self._table[key] == choice.value:
                return choice
        raise self._fault(key, " or ".join(f'"{choice.value}"' for choice in choices))

    def flag(self, key: str, *, default: bool) -> bool:
        value = self._table.get(key, default)
        if not isinstance(value, bool):
            raise self._fault(key, "true or false")
        return value

    def domains(self, key: str) -> frozenset[str] | None:
        value = self._table.get(key)
        if value is None:
            return None
        if not isinstance(value, list):
            raise self._fault(key, 'a list of effect domains, as in ["workspace"]')
        for domain in value:
            if not isinstance(domain, str) or not _DOMAIN.fullmatch(domain):
                raise self._fault(key, 'effect domains such as "web", "crm:orders" or "*"')
        return frozenset(value)

    def _number(self, key: str, expected: str) -> float | None:
        value = self._table.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
            raise self._fault(key, expected)
        return float(value)

    def seconds(self, key: str) -> float | None:
        value = self._number(key, "seconds, more than 0")
        if value is not None and value <= 0:
            raise self._fault(key, "seconds, more than 0")
        return value

    def share(self, key: str) -> float | None:
        value = self._number(key, "a number from 0 to 1")
        if value is not None and not 0 <= value <= 1:
            raise self._fault(key, "a number from 0 to 1")
        return value
