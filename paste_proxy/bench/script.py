"""From a recorded session to the script an agent plays: turns, calls, answers and their timing.

Times are uncompressed seconds. A person's thinking is not counted.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import assert_never

from paste_proxy.bench.latency import FIRST_TOKEN_S, LONGEST_LLM_S, REPLY_S, TOKENS_PER_S, tokens, tool_latency
from paste_proxy.events.durations import credible
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status, ToolResult
from paste_proxy.events.types import (
    CallSealed,
    Event,
    LlmTurn,
    Refusals,
    Speculation,
    ToolCall,
    ToolOutput,
    TurnStarted,
    UserMessage,
)
from paste_proxy.events.values import Json

_STREAMED_SHARE = 0.8
"""Largest share of a recorded LLM gap that is streaming; the rest is time to the first token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedCall:
    """A tool call, the answer the recording has for it, and how long that takes."""

    call_id: str
    invocation: Invocation
    arguments: str
    """The arguments as the LLM writes them."""
    result: ToolResult
    latency_s: float
    recorded: bool
    """Whether the latency was recorded rather than stated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedTurn:
    """What a person says first, if anything; then one LLM answer with the calls it makes."""

    heard: tuple[str, ...]
    text: str
    calls: tuple[ScriptedCall, ...]
    first_token_s: float
    stream_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """One session as an agent plays it."""

    session: str
    turns: tuple[ScriptedTurn, ...]

    @property
    def calls(self) -> tuple[ScriptedCall, ...]:
        """All calls in order."""
        return tuple(call for turn in self.turns for call in turn.calls)

    @property
    def planned_s(self) -> float:
        """A bound on the task's time when nothing is hidden."""
        llm = sum(turn.first_token_s + turn.stream_s for turn in self.turns)
        replies = REPLY_S * sum(bool(turn.heard) for turn in self.turns[1:])
        return llm + replies + sum(call.latency_s for call in self.calls)


@dataclass(slots=True)
class _Asked:
    """A call and its answer, once seen."""

    call: ToolCall
    output: ToolOutput | None = None


@dataclass(slots=True)
class _Draft:
    """A turn being collected."""

    heard: list[str] = field(default_factory=list)
    began: float | None = None
    """Time of what the LLM answered to."""
    turn: int | None = None
    texts: list[str] = field(default_factory=list)
    calls: list[_Asked] = field(default_factory=list)
    spoke: float | None = None
    """Time of the last thing the LLM said in this turn."""

    @property
    def empty(self) -> bool:
        return not self.texts and not self.calls


def build_script(session: str, events: Iterable[Event]) -> Script:
    """The script of a recorded session.

    A turn that the recording splits (text, then calls; calls of one turn id with outputs between) is one
    turn. Calls that were never answered are left out, since nobody knows their answer.
    """
    turns = [_finish(draft) for draft in _drafts(events)]
    return Script(session=session, turns=tuple(turn for turn in turns if turn.text or turn.calls))


def _drafts(events: Iterable[Event]) -> list[_Draft]:
    drafts = [_Draft()]
    open_calls: dict[str, _Asked] = {}
    latest: float | None = None
    for event in events:
        match event:
            case UserMessage():
                if not drafts[-1].empty:
                    drafts.append(_Draft())
                drafts[-1].heard.append(event.text)
                drafts[-1].began = event.ts
            case LlmTurn():
                if drafts[-1].calls:
                    drafts.append(_Draft(began=latest))
                drafts[-1].texts.append(event.text)
                drafts[-1].spoke = event.ts
            case ToolCall():
                if _starts_turn(drafts[-1], event):
                    drafts.append(_Draft(began=latest))
                open_calls[event.call_id] = asked = _Asked(event)
                drafts[-1].calls.append(asked)
                drafts[-1].turn, drafts[-1].spoke = event.turn, event.ts
            case ToolOutput():
                if (asked_for := open_calls.pop(event.call_id, None)) is not None:
                    asked_for.output = event
            case TurnStarted() | CallSealed() | Speculation() | Refusals():
                continue
            case _:
                assert_never(event)
        latest = event.ts if event.ts is not None else latest
    return [draft for draft in drafts if not draft.empty]


def _starts_turn(draft: _Draft, call: ToolCall) -> bool:
    """Whether the call is not of the turn so far: something was answered, and no turn id joins them."""
    answered = any(asked.output is not None for asked in draft.calls)
    return answered and (call.turn is None or call.turn != draft.turn)


def _finish(draft: _Draft) -> ScriptedTurn:
    text = "\n".join(text for text in draft.texts if text)
    calls = tuple(_call(asked.call, asked.output) for asked in draft.calls if asked.output is not None)
    written = text + "".join(call.invocation.tool + call.arguments for call in calls)
    stream_s = tokens(written) / TOKENS_PER_S
    first_token_s = FIRST_TOKEN_S
    if draft.began is not None and draft.spoke is not None:
        gap = min(max(0.0, draft.spoke - draft.began), LONGEST_LLM_S)
        stream_s = min(stream_s, gap * _STREAMED_SHARE)
        first_token_s = gap - stream_s
    return ScriptedTurn(
        heard=tuple(draft.heard), text=text, calls=calls, first_token_s=first_token_s, stream_s=stream_s
    )


def _call(call: ToolCall, output: ToolOutput) -> ScriptedCall:
    took = credible(output.duration_s)
    return ScriptedCall(
        call_id=call.call_id,
        invocation=call.invocation,
        arguments=json.dumps(call.invocation.arguments, ensure_ascii=False),
        result=_result(output.output, output.status),
        latency_s=tool_latency(call.invocation.key, call.invocation.tool, took),
        recorded=took is not None,
    )


def _result(output: Json, status: Status) -> ToolResult:
    if isinstance(output, str):
        body, content_type = output, "text/plain; charset=utf-8"
    else:
        body, content_type = json.dumps(output, ensure_ascii=False), "application/json"
    return ToolResult(body=body.encode("utf-8", "surrogatepass"), status=status, content_type=content_type)
