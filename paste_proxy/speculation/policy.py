"""Which tools may be run ahead, and what each of them reads and writes.

The first rule that names a tool decides; a tool that none names is never run ahead and counts as a write.
What a tool server says about its own tools counts only where a rule says that it is to be believed.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from paste_proxy.events.invocation import Invocation, server_of
from paste_proxy.speculation.domains import EVERYTHING, meant, widest
from paste_proxy.speculation.hints import Hints
from paste_proxy.speculation.rule_file import read_rules
from paste_proxy.speculation.rules import Effect, Rule
from paste_proxy.speculation.sameness.sameness import NOTHING_SAME, Sameness
from paste_proxy.speculation.types import Destination, Mode

_UNOWNED = "tools"
"""The own domain of the tools that no server owns."""
_REMEMBERED_TOOLS = 4_096
"""Tool names come from outside, so the memory of rulings is bounded."""
_REMEMBERED_CALLS = 1_024
"""Of each tool: the same calls are likely at moment after moment, and a command takes a while to be looked into."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What the policy says about a call."""

    rule: Rule | None
    effect: Effect
    """A read or a write."""
    allowed: bool
    """It may be run ahead, as far as `mode` goes."""
    staged: bool = False
    """Only with its effects held back."""
    approval: bool = False
    """The agent asks a person first."""
    destination: Destination = Destination.THIRD_PARTY
    """Who learns of it: anyone, where nobody has said."""
    reads: frozenset[str]
    """Effect domains, places unfilled."""
    writes: frozenset[str]
    """Empty exactly for a tool that changes nothing any rule reads."""
    mode: Mode = Mode.OFF
    ttl_s: float | None = None
    reuse_s: float | None = None
    min_confidence: float | None = None
    expected_s: float | None = None
    same: Sameness = NOTHING_SAME

    @property
    def place(self) -> str:
        """Of the rule, file and number; empty where none speaks about the call."""
        return "" if self.rule is None else self.rule.place

    def read_by(self, session: str, invocation: Invocation) -> frozenset[str]:
        """The domains that this call reads."""
        return meant(self.reads, session, invocation)

    def rests_on(self, session: str, invocation: Invocation) -> frozenset[str]:
        """The domains that may not be written between a run ahead of this call and the call."""
        read = self.read_by(session, invocation)
        return read | self.written_by(session, invocation) if self.staged else read

    def written_by(self, session: str, invocation: Invocation) -> frozenset[str]:
        """The domains that this call writes."""
        return meant(self.writes, session, invocation)


@dataclass(frozen=True, slots=True)
class Standing:
    """What the policy says about a tool, whatever it is called with."""

    rulings: tuple[Ruling, ...]
    """By the rules that name it, in their order; the first whose conditions hold decides."""
    unknown: Ruling
    """Of a call that none of them means."""
    _known: dict[str, Ruling] = field(default_factory=dict, compare=False)
    """By canonical key, of a tool some of whose calls are told apart."""

    def ruling(self, invocation: Invocation) -> Ruling:
        """The ruling on a call of the tool, by whatever spelling."""
        if not any(ruling.rule is not None and ruling.rule.conditions for ruling in self.rulings):
            return self.rulings[0] if self.rulings else self.unknown
        known = self._known.get(invocation.key)
        if known is None:
            if len(self._known) >= _REMEMBERED_CALLS:
                self._known.clear()
            meant = (one for one in self.rulings if one.rule is not None and one.rule.means(invocation))
            known = self._known[invocation.key] = next(meant, self.unknown)
        return known

    @property
    def named(self) -> bool:
        """Whether a rule names it."""
        return bool(self.rulings)

    @property
    def allowed(self) -> bool:
        """Whether some call of it may be run ahead."""
        return any(ruling.allowed for ruling in self.rulings)

    @property
    def mode(self) -> Mode:
        """How far some call of it may go."""
        return max((ruling.mode for ruling in self.rulings), key=list(Mode).index, default=Mode.OFF)

    @property
    def reads(self) -> frozenset[str]:
        """What its calls that may be run ahead read."""
        return frozenset[str]().union(*(ruling.reads for ruling in self.rulings if ruling.allowed))


class Policy:
    """Rules in order, first match wins, all else denied."""

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self.rules = tuple(rules)
        self._standings: dict[str, tuple[Hints | None, Standing]] = {}
        """By tool, with the hints that they rest on: a prediction in another thread may make one while those change."""
        self._hints: dict[str, Hints] = {}

    @classmethod
    def parse(cls, text: str, where: str) -> "Policy":
        """The policy a TOML text states; `where` names it in faults.

        Raises:
            InputFault: the text is malformed.
        """
        return cls(read_rules(text, where))

    def rule_for(self, invocation: Invocation) -> Ruling:
        """The ruling on a call, its tool by its identity."""
        return self.of_tool(invocation.tool).ruling(invocation)

    def of_tool(self, tool: str) -> Standing:
        """What is said of a tool, by its identity."""
        hints, known = self._hints.get(tool), self._standings.get(tool)
        if known is None or known[0] is not hints:
            if len(self._standings) >= _REMEMBERED_TOOLS:
                self._standings.clear()
            known = self._standings[tool] = hints, self._standing(tool)
        return known[1]

    def annotated(self, tool: str, hints: Hints | None) -> bool:
        """Take note of what a tool's server says of it from now on; None: nothing is known of it any more.

        Returns:
            Whether that makes writes of calls that were reads.
        """
        before = self._reads(tool)
        if hints is None:
            self._hints.pop(tool, None)
        else:
            self._hints[tool] = hints
        return not before <= self._reads(tool)

    def _reads(self, tool: str) -> set[str]:
        """The places of the rules by which calls of it are reads."""
        return {one.rule.place for one in self.of_tool(tool).rulings if one.rule and one.effect is Effect.READ}

    def core(self, invocation: Invocation) -> Invocation:
        """What is compared, mined and predicted in place of an invocation: the one whose answer holds its answer."""
        return self.rule_for(invocation).same.core(invocation)

    def takes(self, tool: str, arguments: frozenset[str]) -> bool:
        """Whether a tool's server lists these among its arguments, on all its connections."""
        return tool in self._hints and arguments <= self._hints[tool].arguments

    def lets(self, server: str) -> bool:
        """Whether a rule lets some tool of this server be run ahead."""
        return any(rule.ahead and rule.of_server(server) for rule in self.rules)

    def _standing(self, tool: str) -> Standing:
        server, rulings = server_of(tool), list[Ruling]()
        for rule in self.rules:
            if rule.names(tool):
                rulings.append(self._ruling(rule, tool))
                if not rule.conditions:
                    break
        writes = self._of_unknown(server)
        unknown = Ruling(rule=None, effect=Effect.WRITE, allowed=False, reads=frozenset(), writes=writes)
        return Standing(tuple(rulings), unknown)

    def _ruling(self, rule: Rule, tool: str) -> Ruling:
        server, effect = server_of(tool), self._effect(rule, tool)
        reads = frozenset({_own(server)}) if rule.reads is None else rule.reads
        writes: frozenset[str] = frozenset()
        if effect is Effect.WRITE:
            writes = self._of_server(server) if rule.writes is None else rule.writes
        return Ruling(
            rule=rule,
            effect=effect,
            allowed=rule.stage or (rule.speculate and effect is Effect.READ),
            staged=rule.stage,
            approval=rule.approval,
            destination=rule.destination or Destination.THIRD_PARTY,
            reads=reads,
            writes=writes,
            mode=rule.mode,
            ttl_s=rule.ttl_s,
            reuse_s=rule.reuse_s if effect is Effect.READ else None,
            min_confidence=rule.min_confidence,
            expected_s=rule.expected_s,
            same=rule.same,
        )

    def _effect(self, rule: Rule, tool: str) -> Effect:
        if rule.effect is not Effect.ANNOTATED:
            return rule.effect
        hints = self._hints.get(tool, Hints())
        strays = rule.destination is Destination.LOCAL and hints.open_world
        return Effect.READ if hints.read_only and not strays else Effect.WRITE

    def _of_unknown(self, server: str) -> frozenset[str]:
        """What a tool without a rule may write.

        A person who has named a server's domains has said how far it reaches. Of a server that no rule
        names, and of a tool that no server owns, nobody has said anything.
        """
        if server and any(rule.of_server(server) for rule in self.rules):
            return self._of_server(server)
        return frozenset({EVERYTHING})

    def _of_server(self, server: str) -> frozenset[str]:
        """A server's domains: its own and every one that a rule about it mentions."""
        about = [rule for rule in self.rules if rule.of_server(server)]
        named = (domains for rule in about for domains in (rule.reads, rule.writes) if domains)
        return widest(frozenset({_own(server)}).union(*named))


def combine(policies: Iterable[Policy]) -> Policy:
    """One policy of all their rules, the first policy's first."""
    return Policy(rule for policy in policies for rule in policy.rules)


def _own(server: str) -> str:
    return server or _UNOWNED
