"""Puts predictions into terms of this sidecar: its tools' identities and the connections that run them."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from paste_proxy.events.candidate import SEALED, Candidate
from paste_proxy.events.cored import Core, as_asked, cored
from paste_proxy.events.invocation import Invocation, name_of
from paste_proxy.events.outline import Outline
from paste_proxy.events.result import ToolResult
from paste_proxy.events.types import CallSealed, Event, LlmTurn, ToolCall, ToolOutput, UserMessage
from paste_proxy.mining.prediction import Prediction
from paste_proxy.proxy.hub.session import AgentSession
from paste_proxy.proxy.hub.thinking import Thought
from paste_proxy.proxy.hub.toolbox import Toolbox
from paste_proxy.speculation.types import Launch, Narrowed, Predicted
from paste_proxy.tools.backend import Backend, Staging
from paste_proxy.wire.types import SeenPart

_SEALED_CONFIDENCE = 0.98
"""An agent nearly always asks for what its LLM has written; not always, since a person may refuse it."""


class Foresight:
    """Feeds the session predictors and turns what they say into `Predicted`.

    A pool may have been mined where a tool had another spelling (`read_file` for `fs/read_file`); events
    are shown to the predictor in the pool's spelling and candidates come back as identities.

    Args:
        core: what the policy makes of an invocation. Predictors see cores and what they predict is run as its
            core; a sealed call is run as it is.
        staged: whether a call, its tool by its identity, may only be run ahead with its effects held back.
    """

    def __init__(
        self,
        toolbox: Toolbox,
        pool_tools: frozenset[str],
        not_executable: Callable[[str, Candidate], None],
        core: Core = as_asked,
        staged: Callable[[Invocation], bool] = lambda invocation: False,
    ) -> None:
        self._toolbox, self._pool_tools = toolbox, pool_tools
        self._not_executable = not_executable
        self._core = core
        self._staged = staged

    def holds_back(self, session: AgentSession, invocation: Invocation) -> bool:
        """Whether a call, its tool by its identity, is one that we can run with its effects held back: then it is ours,
        and has none before it is asked of us."""
        if not self._staged(invocation):
            return False
        offer = self._toolbox.find(invocation.tool, session.id, session.scopes.values())
        return offer is not None and _can_stage(offer.backend, invocation)

    def begun(self, session: AgentSession, turn: int, part: SeenPart) -> Thought | None:
        """A call is being written. None where calls of that name do not pass through the sidecar: who knows what
        its tool calls in turn."""
        tool = self._toolbox.identify(part.name, bare=not session.prefixes)
        if not self._toolbox.knows(tool):
            return None
        meant = self._core(self._toolbox.plain(Invocation(tool, part.arguments)))
        beside = {self._spelled(self._core(call.invocation)).key for call in session.calls if call.turn == turn}
        outline = Outline(tool, meant.arguments)
        return Thought(
            work=partial(session.predictor.narrow, Outline(self._spelling(tool), meant.arguments), beside),
            meant=lambda found: [self._narrowed(session, outline, self._bind(session, found.candidates))],
            topic=(session.id, "part"),
        )

    def sealed(self, session: AgentSession, call: CallSealed) -> list[Predicted | Narrowed]:
        """Predictor zero: the call stands complete in the LLM's stream."""
        candidate = Candidate(invocation=call.invocation, confidence=_SEALED_CONFIDENCE, source=SEALED)
        bound = self._bind(session, (candidate,))
        if not self._toolbox.knows(call.invocation.tool):
            return [*bound]
        return [self._narrowed(session, Outline(call.invocation.tool, call.invocation.arguments, whole=True), bound)]

    def _narrowed(self, session: AgentSession, outline: Outline, newly: list[Predicted]) -> Narrowed:
        return Narrowed(session=session.id, outline=outline, more=session.further, newly=tuple(newly))

    def guessed(self, session: AgentSession, candidates: tuple[Candidate, ...]) -> list[Predicted]:
        """What a speculative LLM suggests, by the tools' identities."""
        return self._bind(session, candidates)

    def follow(self, session: AgentSession, event: Event) -> Callable[[], None]:
        """Shows an event of the past to the session's predictor."""
        return partial(session.predictor.follow, self._in_pool_terms(event))

    def step(self, session: AgentSession, event: Event) -> Thought:
        """Show an event to the session's predictor. What followed from an answer is moot once there is another one."""
        shown = self._in_pool_terms(event)
        return Thought(
            work=partial(session.predictor.step, shown),
            meant=lambda found: self._bind(session, found.candidates),
            topic=(session.id, "moment") if _is_answer(event) else None,
            past=partial(session.predictor.follow, shown),
        )

    def glimpsed(self, session: AgentSession) -> Thought:
        """What else is likely at this moment and must not be run ahead, so that it is counted."""
        return Thought(
            work=lambda: Prediction(tuple(session.predictor.glimpse())),
            meant=lambda found: self._bind(session, found.candidates),
        )

    def beyond(self, session: AgentSession, job: Launch, result: ToolResult) -> Thought:
        """What would follow if the session asked for a job that has its result: chains of calls."""
        call_id, tool = f"job-{job.job}", job.invocation.tool
        call = ToolCall(session=session.id, ts=None, call_id=call_id, invocation=job.invocation)
        output = ToolOutput(
            session=session.id, ts=None, call_id=call_id, tool=tool, output=result.observed(), status=result.status
        )
        depth, confidence = job.candidate.depth + 1, job.candidate.confidence
        return Thought(
            work=partial(session.predictor.suppose, [self._in_pool_terms(call)], self._in_pool_terms(output)),
            meant=lambda found: self._bind(
                session,
                tuple(replace(one, confidence=one.confidence * confidence, depth=depth) for one in found.candidates),
            ),
        )

    def _in_pool_terms(self, event: Event) -> Event:
        event = cored(event, self._core)
        if isinstance(event, ToolCall):
            spelled = self._spelled(event.invocation)
            return event if spelled is event.invocation else replace(event, invocation=spelled)
        if isinstance(event, ToolOutput):
            return replace(event, tool=self._spelling(event.tool))
        return event

    def _spelled(self, invocation: Invocation) -> Invocation:
        spelling = self._spelling(invocation.tool)
        return invocation if spelling == invocation.tool else Invocation(spelling, invocation.arguments)

    def _spelling(self, tool: str) -> str:
        if tool in self._pool_tools:
            return tool
        bare = name_of(tool)
        return bare if bare in self._pool_tools else tool

    def _bind(self, session: AgentSession, candidates: tuple[Candidate, ...]) -> list[Predicted]:
        by_scope: dict[str, list[Candidate]] = {}
        for candidate in candidates if session.ahead else ():
            tool = self._toolbox.identify(candidate.invocation.tool)
            offer = self._toolbox.find(tool, session.id, session.scopes.values())
            if offer is None:
                self._not_executable(session.id, candidate)
                continue
            if tool != candidate.invocation.tool:
                candidate = replace(candidate, invocation=Invocation(tool, candidate.invocation.arguments))
            if candidate.source != SEALED:
                candidate = replace(candidate, invocation=self._core(candidate.invocation))
            if self._staged(candidate.invocation):
                if candidate.source == SEALED:  # to make a view takes longer than what is left until it is asked for
                    continue
                if not _can_stage(offer.backend, candidate.invocation):
                    self._not_executable(session.id, candidate)
                    continue
            by_scope.setdefault(offer.scope, []).append(candidate)
        return [
            Predicted(session=session.id, scope=scope, candidates=tuple(found)) for scope, found in by_scope.items()
        ]


def _can_stage(backend: Backend, invocation: Invocation) -> bool:
    return isinstance(backend, Staging) and backend.stages(invocation)


def _is_answer(event: Event) -> bool:
    """Whether what followed from the answer before is of no use any more. A turn that breaks off is asked for again."""
    return isinstance(event, UserMessage | ToolOutput) or (isinstance(event, LlmTurn) and event.complete)
