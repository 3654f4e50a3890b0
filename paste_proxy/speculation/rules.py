"""Policy rules as people write them: a TOML file of `[[rule]]` tables.

Nothing malformed is read as something else: a policy that is misread would run a tool nobody allowed.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import TypeGuard

from paste_proxy.errors import InputFault
from paste_proxy.events.invocation import Invocation, name_of, server_of
from paste_proxy.events.toml import read_toml
from paste_proxy.speculation.conditions import ANY_CALL, Conditions, read_conditions
from paste_proxy.speculation.domains import WRITTEN
from paste_proxy.speculation.fields import Fields
from paste_proxy.speculation.sameness.sameness import NOTHING_SAME, Sameness
from paste_proxy.speculation.sameness.table import read_sameness
from paste_proxy.speculation.types import Mode

_GLOB = re.compile(r"(?:[^\s\[\]]|\[[^\s\[\]]+\])+")
_KEYS = (
    "tool",
    "server",
    "when",
    "commands",
    "effect",
    "speculate",
    "stage",
    "reads",
    "writes",
    "ttl_s",
    "reuse_s",
    "mode",
    "min_confidence",
    "expected_s",
    "same",
)
_A_GLOB = "a glob without white space, its brackets closed"


class Effect(StrEnum):
    """What a tool may do to the world."""

    READ = "read"
    WRITE = "write"


@dataclass(frozen=True, slots=True)
class Glob:
    """Which tools a rule names."""

    server: str
    """Glob of the server's name; empty: the tools that no server owns, and only those."""
    name: str
    """Glob of the tool's bare name."""

    def of_server(self, server: str) -> bool:
        """Whether it names tools of this server."""
        return fnmatchcase(server, self.server) if server and self.server else server == self.server

    def names(self, tool: str) -> bool:
        """Whether it names this tool (an identity)."""
        return self.of_server(server_of(tool)) and fnmatchcase(name_of(tool), self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What a person says about the tools that some globs name."""

    place: str
    """File and number, for people: `policies/research.toml: rule 2`."""
    tools: tuple[Glob, ...]
    conditions: Conditions = ANY_CALL
    effect: Effect
    speculate: bool
    stage: bool = False
    """A write that may be run ahead with its effects held back."""
    reads: frozenset[str] | None = None
    """Effect domains; None: the server's own."""
    writes: frozenset[str] | None = None
    """Effect domains of a write; None: all that the server has."""
    ttl_s: float | None = None
    reuse_s: float | None = None
    """How long an answer that the agent was given serves the same call of its session again."""
    mode: Mode = Mode.SPECULATE
    min_confidence: float | None = None
    expected_s: float | None = None
    same: Sameness = NOTHING_SAME
    """Which calls of these tools are the same."""

    @property
    def ahead(self) -> bool:
        """Whether its tools may be run ahead, in whatever way."""
        return self.speculate or self.stage

    def of_server(self, server: str) -> bool:
        """Whether the rule speaks about tools of this server."""
        return any(glob.of_server(server) for glob in self.tools)

    def names(self, tool: str) -> bool:
        """Whether the rule speaks about this tool (an identity), if only about some calls of it."""
        return any(glob.names(tool) for glob in self.tools)

    def means(self, invocation: Invocation) -> bool:
        """Whether the rule, which names its tool, speaks about this call."""
        if not self.conditions:
            return True
        core, shell = self.same.core(invocation).arguments, self.same.shell
        return self.conditions.hold(core, core.get(shell.command) if shell else None)


def read_rules(text: str, where: str) -> tuple[Rule, ...]:
    """The rules of a policy file, in its order.

    Raises:
        InputFault: something in it is malformed; the fault names the file, the rule's number and the key.
    """
    tree = read_toml(text, where, "a TOML file of [[rule]] tables")
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
    fields = Fields(table, place)
    fields.refuse_unknown(_KEYS)
    tools = _tools(fields)
    effect = fields.choice("effect", Effect)
    if effect is None:
        raise InputFault(f"{place}: effect", "nothing", '"read" or "write"')
    speculate = fields.flag("speculate", default=effect is Effect.READ)
    if effect is Effect.WRITE and speculate:
        raise InputFault(
            f"{place}: speculate",
            "true for a write",
            "false: a write is never run ahead; stage = true runs a command in a view of its own",
        )
    reuse_s = fields.seconds("reuse_s")
    if effect is Effect.WRITE and reuse_s is not None:
        raise InputFault(
            f"{place}: reuse_s", f"{reuse_s:g} for a write", "none: a write that is asked for again is done again"
        )
    stage = fields.flag("stage", default=False)
    if stage and effect is Effect.READ:
        raise InputFault(f"{place}: stage", "true for a read", 'speculate = true, or effect = "write"')
    writes = _domains(fields, "writes")
    if effect is Effect.READ and writes:
        raise InputFault(f"{place}: writes", f"{sorted(writes)} for a read", 'no writes, or effect = "write"')
    same = read_sameness(fields.value("same"), f"{place}: same")
    return Rule(
        place=place,
        tools=tools,
        conditions=read_conditions(fields, shell=same.shell is not None),
        effect=effect,
        speculate=speculate,
        stage=stage,
        reads=_domains(fields, "reads"),
        writes=writes,
        ttl_s=fields.seconds("ttl_s"),
        reuse_s=reuse_s,
        mode=fields.choice("mode", Mode) or Mode.SPECULATE,
        min_confidence=fields.share("min_confidence"),
        expected_s=fields.seconds("expected_s"),
        same=same,
    )


def _tools(fields: Fields) -> tuple[Glob, ...]:
    server, value = fields.value("server"), fields.value("tool")
    if server is not None and not _is_glob(server):
        raise fields.fault("server", _A_GLOB)
    listed = value if isinstance(value, list) else [value]
    globs = [each for each in listed if _is_glob(each)]
    if not globs or len(globs) < len(listed):
        raise fields.fault("tool", f"{_A_GLOB}, as in 'get_*' or 'files/read_*', or a list of such")
    return tuple(_glob(fields, server, glob) for glob in globs)


def _glob(fields: Fields, server: str | None, glob: str) -> Glob:
    if "/" not in glob:
        return Glob(server or "", glob)
    if server is not None:
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
