"""How a policy comes to its ruling on one call, in words."""

from dataclasses import dataclass

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.values import canonical_text
from paste_proxy.speculation.policy import Policy, Ruling
from paste_proxy.speculation.rules import Effect
from paste_proxy.speculation.said import Said, said


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """What a policy makes of a call."""

    passed: tuple[tuple[str, str], ...]
    """The rules before the one that decides which name the tool: place, and the condition that is not met."""
    ruling: Ruling
    verdict: Said
    """Of a candidate that is sure to be asked for."""
    reads: tuple[str, ...]
    """Effect domains, places filled."""
    writes: tuple[str, ...]
    core: Invocation
    rehearsal: Invocation | None = None
    """What may be run in its place, its result thrown away."""

    @property
    def how(self) -> tuple[str, ...]:
        """What the rule says of running it ahead beyond whether it may be."""
        rule = self.ruling.rule
        if rule is None:
            return ()
        words = []
        if rule.effect is Effect.ANNOTATED:
            words.append("its server's own annotations decide, which are known once a client has listed its tools")
        if self.ruling.min_confidence is not None:
            words.append(f"only if it is at least {self.ruling.min_confidence:.0%} likely")
        if self.ruling.ttl_s is not None:
            words.append(f"its result is thrown away {self.ruling.ttl_s:g} s after its start")
        if self.rehearsal is not None:
            words.append(f"to get ready for it, it may be run as {canonical_text(self.rehearsal.arguments)}")
        if self.ruling.reuse_s is not None:
            words.append(f"an answer serves the same call of its session again for {self.ruling.reuse_s:g} s")
        return tuple(words)


def weighed(policy: Policy, invocation: Invocation, *, session: str, least: float) -> Weighed:
    """What a policy makes of a call, its tool by its identity.

    Args:
        session: stands for the session in domains.
        least: confidence below which nothing is run ahead, unless a rule says otherwise.
    """
    ruling, passed = policy.rule_for(invocation), []
    for before in policy.of_tool(invocation.tool).rulings:
        assert before.rule is not None
        if before.rule is ruling.rule:
            break
        passed.append((before.rule.place, before.rule.unmet(invocation) or ""))
    return Weighed(
        passed=tuple(passed),
        ruling=ruling,
        verdict=said(ruling, 1.0, least),
        reads=tuple(sorted(ruling.read_by(session, invocation))),
        writes=tuple(sorted(ruling.written_by(session, invocation))),
        core=ruling.same.core(invocation),
        rehearsal=_rehearsal(ruling, invocation),
    )


def _rehearsal(ruling: Ruling, invocation: Invocation) -> Invocation | None:
    rule = ruling.rule
    if rule is None or rule.rehearse is None:
        return None
    return rule.rehearse.of(invocation, rule.conditions, rule.same)
