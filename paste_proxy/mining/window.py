"""The bounded recent past of a session: what was said, asked and answered, and the stream of signatures.

Speculation reads it only through `sources`; nothing here ever changes a payload it was given.
"""

from collections import deque
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from typing import Any

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.signature import content, of_output
from paste_proxy.events.types import CallSealed, Event, LlmTurn, ToolCall, ToolOutput, UserMessage
from paste_proxy.mining.bearings import Bearings
from paste_proxy.mining.contexts import LONGEST, START
from paste_proxy.mining.extent import is_long
from paste_proxy.mining.material import Material
from paste_proxy.mining.mentions import mentioned

USER, TURN, CALL, OUTPUT = "user", "turn", "call", "output"
ANY = "*"
"""Instead of a tool: whichever tool it was."""
_LONGEST_COMMAND = 2_000
_MOST_LASTING = 16_384
"""Things found that are kept; a session that is learned from tries far more mappers than it needs again."""


@dataclass(slots=True)
class Observation:
    """One thing that happened: a user message, the text of a turn, or a call with its answer."""

    kind: str
    said: Material | None
    """The user's or the model's words, or a call's answer; None while it is awaited."""
    tool: str = ""
    invocation: Invocation | None = None
    """None for a call that is too long to be looked at, see `extent`, and for an answer whose call was not seen."""
    asked: Material | None = None
    """The arguments of a call; None where there is no invocation."""
    call_id: str = ""
    ok: bool = True
    signature: str = ""
    """Of the answer."""


class Window:
    """The last `size` observations of one session."""

    def __init__(self, size: int = 64) -> None:
        self.observations: deque[Observation] = deque(maxlen=size)
        self.stream: deque[str] = deque([START], maxlen=LONGEST)
        self.bearings = Bearings()

        self.spoke = False
        """The last event is a turn of the model that called nothing."""
        self._sealed_turn: int | None = None
        self._asked: frozenset[str] | None = None
        self.memo: dict[Hashable, Any] = {}
        """What was found at this moment; forgotten at the next event."""
        self.lasting: dict[Hashable, tuple[object, object, Any]] = {}
        """By the name of a source, or the id of whatever looks things up: itself, the stamp it looked at, and what it
        found then."""
        self.stamps: dict[tuple[str, str], int] = {}
        """By origin and tool of a source that means anything: a number that changes whenever what it can mean does,
        and never comes back."""
        self.called = 0
        """A number that changes whenever its calls, or which of them failed, do."""
        self._changes = 0
        self._shared: int | None = None
        """The stamp of the bearings that what was taken over from another window was read against."""

    def fork(self) -> "Window":
        """A window with the same past, whose future leaves this one as it is."""
        fork = Window(self.observations.maxlen or 64)
        fork.observations.extend(copy(seen) for seen in self.observations)
        fork.stream = self.stream.copy()
        fork.bearings = self.bearings.fork()
        fork.lasting, fork.stamps, fork._changes = dict(self.lasting), dict(self.stamps), self._changes
        fork.called = self.called
        fork._shared = self.bearings.stamp
        fork.spoke, fork._sealed_turn, fork._asked = self.spoke, self._sealed_turn, self._asked
        return fork

    def step(self, event: Event) -> bool:
        """Take an event. True if it is one after which the session's next calls can be predicted."""
        self.spoke = False
        self.memo.clear()
        if len(self.lasting) > _MOST_LASTING:
            self.lasting.clear()
        is_moment = self._take(event)
        if self._shared is not None and self._shared != self.bearings.stamp:
            self._part()
        return is_moment

    def _take(self, event: Event) -> bool:
        match event:
            case UserMessage():
                self._add(Observation(USER, self._material(event.text)))
                self.stream.append("user")
                return True
            case LlmTurn():
                if not event.complete or not event.text.strip():
                    return False
                self._add(Observation(TURN, self._material(event.text)))
                self.spoke = event.turn != self._sealed_turn
                return self.spoke
            case ToolCall():
                self._call(event)
                return False
            case ToolOutput():
                self._answer(event)
                return True
            case CallSealed():
                self._sealed_turn = event.turn
                return False
            case _:
                return False

    def context(self) -> list[str]:
        """The signature stream as it stands; a turn that called nothing counts only until the next event."""
        return [*self.stream, "llm"] if self.spoke else list(self.stream)

    @contextmanager
    def rehearsal(self) -> Iterator[None]:
        """For a while its context is what it will be if the awaited answer is like the last successful one of the tool;
        what it is now where no answer is awaited, or none was like it."""
        calls = [seen for seen in reversed(self.observations) if seen.kind == CALL]
        awaited = calls[0].tool if calls and calls[0].said is None else None
        like = next((seen.signature for seen in calls if seen.tool == awaited and seen.signature and seen.ok), None)
        stream = self.stream.copy()
        if like is not None:
            self.stream.append(like)
        try:
            yield
        finally:
            self.stream = stream

    def asked(self) -> frozenset[str]:
        """The canonical keys of the invocations in it."""
        if self._asked is None:
            self._asked = frozenset(seen.invocation.key for seen in self.observations if seen.invocation is not None)
        return self._asked

    def _call(self, event: ToolCall) -> None:
        call = event.invocation
        seen = Observation(CALL, None, call.tool, call_id=event.call_id)
        if not is_long(call):
            self.bearings.visit(_paths(call))
            seen.invocation, seen.asked = call, Material(call.arguments, self.bearings)
        self._add(seen)

    def _answer(self, event: ToolOutput) -> None:
        held = content(event.output)
        sign, said = of_output(event, held), Material(held, self.bearings)
        call = self._open_call(event)
        if call is None:
            call = Observation(CALL, None, event.tool, call_id=event.call_id)
            self._add(call)
        call.said = said
        call.ok, call.signature = sign.startswith("output:ok:"), sign.removeprefix("output:")
        if call.ok:
            self._changed(OUTPUT, call.tool)
        else:
            self.called += 1
        self.bearings.see(said.text())
        self.stream.append(call.signature)

    def _open_call(self, event: ToolOutput) -> Observation | None:
        waiting = [seen for seen in self.observations if seen.kind == CALL and seen.said is None]
        named = [call for call in waiting if call.call_id == event.call_id and call.tool == event.tool]
        return next(iter(named or [call for call in waiting if call.tool == event.tool]), None)

    def _part(self) -> None:
        """Read what was taken over against bearings that are no longer those of the other window."""
        self._shared = None
        for seen in self.observations:
            seen.said, seen.asked = self._reread(seen.said), self._reread(seen.asked)
        self.lasting = {name: kept for name, kept in self.lasting.items() if not isinstance(name, tuple)}

    def _reread(self, material: Material | None) -> Material | None:
        if material is not None and material.bearings is not self.bearings:
            material = copy(material)
            material.bearings = self.bearings
        return material

    def _material(self, text: str) -> Material:
        material = Material(text, self.bearings)
        self.bearings.see(material.text())
        return material

    def _add(self, observation: Observation) -> None:
        gone = self.observations[0] if len(self.observations) == self.observations.maxlen else None
        self.observations.append(observation)
        if gone is not None:
            self._left(gone)
        self._changed(observation.kind, observation.tool)
        if CALL in (observation.kind, gone.kind if gone is not None else ""):
            self.called += 1
            self._asked = None

    def _changed(self, origin: str, tool: str) -> None:
        self._changes += 1
        self.stamps[origin, tool] = self._changes
        if origin in (CALL, OUTPUT):
            self.stamps[origin, ANY] = self._changes

    def _left(self, gone: Observation) -> None:
        origins = (CALL, OUTPUT) if gone.kind == CALL else (gone.kind,)
        for origin in origins:
            self._changed(origin, gone.tool)
        is_last = not any(seen.kind == gone.kind and seen.tool == gone.tool for seen in self.observations)
        if is_last and gone.tool != ANY:
            for place in ((origin, gone.tool) for origin in origins):
                del self.stamps[place]
                for each in (False, True):
                    self.lasting.pop((*place, each), None)


def _paths(call: Invocation) -> Iterator[str]:
    """The absolute paths in a call's texts."""
    for value in call.arguments.values():
        if not isinstance(value, str):
            continue
        if value.startswith("/") and " " not in value:
            yield value
        elif "/" in value and len(value) <= _LONGEST_COMMAND:
            yield from (path for path in mentioned("path", value) if path.startswith("/"))
