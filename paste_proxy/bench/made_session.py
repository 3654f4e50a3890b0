"""A session without end for measuring: made up, and the same in every run.

Tools follow each other as in real work: each has a few likely followers. A turn says something every other time and
asks for one call or, now and then, three at once; a user speaks up from time to time.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from paste_proxy.bench.made_outputs import FORMS, Writer
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status
from paste_proxy.events.types import Event, LlmTurn, ToolCall, ToolOutput, UserMessage

_FOLLOWERS = 3
_SPEAKS, _AT_ONCE, _FAILS, _USER = 0.5, 0.15, 0.05, 0.08
_KINDS = ("url", "path", "id", "word", "date")


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of the session."""

    name: str
    arguments: tuple[str, ...]
    form: str
    """Of its outputs, see `made_outputs`."""


def made_tools(number: int) -> list[Tool]:
    """Tools that no pool knows."""
    return [
        Tool(f"made{at % 4}/tool{at}", ("target",) if at % 3 else ("scope", "target"), FORMS[at % len(FORMS)])
        for at in range(number)
    ]


class Session:
    """Writes the session event by event."""

    def __init__(self, tools: Sequence[Tool], size: int, seed: int = 1) -> None:
        self._writer = Writer(seed)
        self._size = size
        self._random = self._writer.random
        self._followers = {tool: self._random.choices(tools, k=_FOLLOWERS) for tool in tools}
        self._tool = tools[0]
        self._turn = self._call = 0

    def events(self) -> Iterator[Event]:
        """The events, without end."""
        yield self._user()
        while True:
            if self._random.random() < _USER:
                yield self._user()
            self._turn += 1
            if self._random.random() < _SPEAKS:
                text = f"{self._writer.sentence(12)} {self._writer.value('path')} {self._writer.sentence(20)}"
                yield LlmTurn(session="made", ts=None, text=text, turn=self._turn)
            yield from self._batch()

    def _user(self) -> UserMessage:
        asked = f"{self._writer.sentence(15)} {self._writer.value('url')} and {self._writer.value('id')}?"
        return UserMessage(session="made", ts=None, text=asked)

    def _batch(self) -> Iterator[Event]:
        self._tool = self._random.choice(self._followers[self._tool])
        calls = [self._called(self._tool) for _ in range(3 if self._random.random() < _AT_ONCE else 1)]
        yield from calls
        for call in calls:
            yield self._answered(call, self._tool.form)

    def _called(self, tool: Tool) -> ToolCall:
        self._call += 1
        kinds = [_KINDS[(at + len(tool.name)) % len(_KINDS)] for at in range(len(tool.arguments))]
        values = {name: self._writer.value(kind) for name, kind in zip(tool.arguments, kinds, strict=True)}
        return ToolCall(
            session="made",
            ts=None,
            call_id=str(self._call),
            invocation=Invocation(tool.name, dict(values)),
            turn=self._turn,
        )

    def _answered(self, call: ToolCall, form: str) -> ToolOutput:
        failed = self._random.random() < _FAILS
        return ToolOutput(
            session="made",
            ts=None,
            call_id=call.call_id,
            tool=call.invocation.tool,
            output=self._writer.output("log" if failed else form, self._size),
            status=Status.ERROR if failed else Status.OK,
        )
