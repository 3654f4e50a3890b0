"""Policy rules: what a person says about some tools, or about some of their calls."""

from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase

from paste_proxy.events.invocation import Invocation, name_of, server_of
from paste_proxy.speculation.budgets.allotment import UNBOUNDED, Allotment
from paste_proxy.speculation.conditions import ANY_CALL, Conditions
from paste_proxy.speculation.domains import places
from paste_proxy.speculation.preparation import Preparation
from paste_proxy.speculation.rehearsal import Rehearsal
from paste_proxy.speculation.sameness.sameness import NOTHING_SAME, Sameness
from paste_proxy.speculation.types import Destination, Mode


class Effect(StrEnum):
    """What a tool may do to the world."""

    READ = "read"
    WRITE = "write"
    ANNOTATED = "annotated"
    """What its server's annotations say: of a rule only, a call is either a read or a write."""


@dataclass(frozen=True, slots=True)
class Glob:
    """Which tools a rule names."""

    server: str
    """Glob of the server's name; empty: the tools that no server owns, and only those."""
    name: str
    """Glob of the tool's bare name."""

    def __str__(self) -> str:
        return f"{self.server}/{self.name}" if self.server else self.name

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
    approval: bool = False
    """The agent asks a person first: never run ahead."""
    destination: Destination | None = None
    """Who learns of its calls; None: nobody has said."""
    prepare: frozenset[Preparation] | None = None
    """How it may be got ready for its calls; None: as for all others."""
    rehearse: Rehearsal | None = None
    """How its calls are changed to be run ahead for what that leaves ready; None: they are not."""
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
    allotment: Allotment = UNBOUNDED
    """What its calls may cost."""
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
        return not self.conditions or self.unmet(invocation) is None

    def unmet(self, invocation: Invocation) -> str | None:
        """The first condition of the rule that this call does not meet, in words."""
        domains = (self.reads or frozenset()) | (self.writes or frozenset())
        return self.conditions.unmet(self.same.core(invocation).arguments, self.same, places(domains))
