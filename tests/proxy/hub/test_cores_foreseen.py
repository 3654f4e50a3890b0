"""Predictors see the cores of what happened, and what they predict is run as its core."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from paste_proxy.events.candidate import Candidate
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.outline import Outline
from paste_proxy.events.result import ToolResult
from paste_proxy.events.types import CallSealed, Event, ToolCall
from paste_proxy.mining.prediction import Prediction
from paste_proxy.proxy.hub.foresight import Foresight
from paste_proxy.proxy.hub.session import AgentSession
from paste_proxy.proxy.hub.thinking import Thought
from paste_proxy.proxy.hub.toolbox import Toolbox
from paste_proxy.speculation.policy import Policy
from paste_proxy.speculation.types import Narrowed, Predicted, Told
from paste_proxy.wire.types import SeenPart

POLICY = Policy.parse('[[rule]]\ntool = "fs/read"\neffect = "read"\nsame = { lines = { head = "head" } }\n', "test")
PART, WHOLE = Invocation("fs/read", {"path": "a", "head": 3}), Invocation("fs/read", {"path": "a"})


@dataclass
class Prophet:
    """Foresees a part of the file, as a pool does that was mined without the policy."""

    seen: list[Event] = field(default_factory=list)
    outlines: list[Outline] = field(default_factory=list)

    def follow(self, event: Event) -> None:
        self.seen.append(event)

    def step(self, event: Event) -> Prediction:
        self.seen.append(event)
        part = Invocation("read", PART.arguments)
        return Prediction((Candidate(invocation=part, confidence=0.5, source="pattern"),))

    def suppose(self, past: Sequence[Event], latest: Event) -> Prediction:
        self.seen.extend(past)
        return self.step(latest)

    def end(self) -> None:
        pass

    def glimpse(self) -> Sequence[Candidate]:
        return ()

    def look_ahead(self) -> None:
        return

    def narrow(self, outline: Outline, beside: Collection[str] = ()) -> Prediction:
        self.outlines.append(outline)
        return Prediction((Candidate(invocation=Invocation(outline.tool, PART.arguments), confidence=0.5, source="p"),))


class Idle:
    """A backend that nothing is run by here."""

    async def run(self, invocation: Invocation, *, speculative: bool) -> ToolResult:
        raise AssertionError(invocation)

    async def close(self) -> None:
        return


def foresight(pool_tools: frozenset[str] = frozenset()) -> tuple[Foresight, AgentSession, Prophet]:
    toolbox = Toolbox(["fs"])
    toolbox.offer("", "fs", Idle(), ["fs/read"])
    prophet = Prophet()
    session = AgentSession("s", prophet, started=0, seen=0)
    return Foresight(toolbox, pool_tools, lambda *_: None, POLICY.core), session, prophet


def told(thought: Thought | None) -> Sequence[Told]:
    """What comes of a thought."""
    assert thought is not None
    return thought.meant(thought.work())


def test_a_predicted_call_is_run_as_its_core() -> None:
    foresees, session, prophet = foresight()
    happened = ToolCall(session="s", ts=None, call_id="1", invocation=PART)
    (predicted,) = told(foresees.step(session, happened))
    assert isinstance(predicted, Predicted)
    assert [candidate.invocation for candidate in predicted.candidates] == [WHOLE]
    assert [getattr(event, "invocation", None) for event in prophet.seen] == [WHOLE]


def test_a_pool_with_another_spelling_sees_cores_as_well() -> None:
    foresees, session, prophet = foresight(frozenset({"read"}))
    foresees.follow(session, ToolCall(session="s", ts=None, call_id="1", invocation=PART))()
    assert [getattr(event, "invocation", None) for event in prophet.seen] == [Invocation("read", WHOLE.arguments)]


def test_a_sealed_call_is_run_as_it_is() -> None:
    foresees, session, _ = foresight()
    sealed = CallSealed(session="s", ts=None, turn=1, order=0, call_id="1", invocation=PART)
    (narrowed,) = foresees.sealed(session, sealed)
    assert isinstance(narrowed, Narrowed)
    assert narrowed.outline == Outline("fs/read", PART.arguments, whole=True)
    assert [candidate.invocation for one in narrowed.newly for candidate in one.candidates] == [PART]


def test_a_call_being_written_is_completed_as_its_core() -> None:
    foresees, session, prophet = foresight(frozenset({"read"}))
    (narrowed,) = told(foresees.begun(session, 1, SeenPart(order=0, name="mcp__fs__read", arguments=PART.arguments)))
    assert isinstance(narrowed, Narrowed)
    assert prophet.outlines == [Outline("read", WHOLE.arguments)]
    assert narrowed.outline == Outline("fs/read", WHOLE.arguments)
    assert [candidate.invocation for one in narrowed.newly for candidate in one.candidates] == [WHOLE]
