"""A recorded session as it goes in the simulation: turns with their lengths, and the calls that each asks for.

Lengths are those of the recorded texts, four characters a token. Recordings leave thinking out, so that each turn may
begin with some more; system prompts, left out too, are one for all sessions, cached, and cost nothing.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from paste_proxy.bench.latency import tokens
from paste_proxy.bench.script import Script, ScriptedCall, ScriptedTurn
from paste_proxy.events.outline import Outline
from paste_proxy.events.values import Json
from paste_proxy.sim.spelling import Spelling


@dataclass(frozen=True, slots=True)
class Part:
    """What is known of a call once so much of its turn is written."""

    at: float
    """Tokens of the answer."""
    outline: Outline


@dataclass(frozen=True, slots=True, kw_only=True)
class CourseCall:
    """A call of a turn."""

    recorded: ScriptedCall
    """Its invocation as it is asked for here."""
    parts: tuple[Part, ...]
    """While it is being written: its name, then one argument more each."""
    sealed_at: float
    """Tokens of the answer when it stands complete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CourseTurn:
    """One LLM answer and what it asks for."""

    heard: tuple[str, ...]
    text: str
    heard_tokens: float
    """What was said before it; the answers of tools come on top."""
    answer_tokens: float
    calls: tuple[CourseCall, ...]

    @property
    def outputs_tokens(self) -> float:
        """Of the answers to its calls."""
        return sum(_length(call.recorded.result.body.decode("utf-8", "replace")) for call in self.calls)


@dataclass(frozen=True, slots=True)
class Course:
    """What a session does from its beginning to its end."""

    name: str
    turns: tuple[CourseTurn, ...]

    @property
    def calls(self) -> list[CourseCall]:
        """All of them, in order."""
        return [call for turn in self.turns for call in turn.calls]

    @property
    def answers_tokens(self) -> float:
        """Of all its turns."""
        return sum(turn.answer_tokens for turn in self.turns)


def course_of(script: Script, spelling: Spelling, thinking: float = 0.0) -> Course:
    """The course of a recorded session.

    Args:
        thinking: tokens with which each turn begins, beside what was recorded.
    """
    return Course(script.session, tuple(_turn(turn, spelling, thinking) for turn in script.turns))


def thinking_for(courses: Sequence[Course], tools_s: float, share: float, token_s: float) -> float:
    """Thinking a turn that leaves tools their share of the time of sessions that are alone; 0 if they have less anyway.

    Args:
        tools_s: seconds of all their calls.
        share: of the tools, 0 to 1.
        token_s: seconds of a token of the LLM's, alone.
    """
    turns = sum(len(course.turns) for course in courses)
    written = sum(course.answers_tokens for course in courses)
    wanted = tools_s * (1 - share) / share / token_s
    return max(0.0, round((wanted - written) / turns)) if turns else 0.0


def _turn(turn: ScriptedTurn, spelling: Spelling, thinking: float) -> CourseTurn:
    written, calls = thinking + _length(turn.text), []
    for call in turn.calls:
        asked = replace(call, invocation=spelling.asked(call.invocation))
        calls.append(_call(asked, written))
        written = calls[-1].sealed_at
    return CourseTurn(
        heard=turn.heard,
        text=turn.text,
        heard_tokens=sum(map(_length, turn.heard)),
        answer_tokens=max(1.0, written),
        calls=tuple(calls),
    )


def _call(call: ScriptedCall, begun_at: float) -> CourseCall:
    tool, arguments = call.invocation.tool, call.invocation.arguments
    at, known, parts = begun_at + _length(tool), dict[str, Json](), list[Part]()
    for name, value in arguments.items():
        parts.append(Part(at, Outline(tool, dict(known))))
        at += _length(json.dumps({name: value}, ensure_ascii=False))
        known[name] = value
    return CourseCall(recorded=call, parts=tuple(parts), sealed_at=at)


def _length(text: str) -> float:
    return float(tokens(text))
