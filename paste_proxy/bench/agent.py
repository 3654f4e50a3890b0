"""An agent that plays a script through the live sidecar, and remembers everything it saw.

It is a plain client: it streams Chat Completions, runs the calls it finds in the answer, and sends
their results back. Its view is a digest over every byte of every LLM answer and of every tool result, in
order.
"""

import asyncio
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol

import aiohttp

from paste_proxy.bench.account import Ask
from paste_proxy.bench.latency import DISPATCH_S, REPLY_S, writes
from paste_proxy.bench.pace import Pace
from paste_proxy.bench.script import Script, ScriptedTurn
from paste_proxy.bench.standins import MODEL_PREFIX
from paste_proxy.errors import OurFault
from paste_proxy.events.invocation import Invocation, read_arguments
from paste_proxy.events.result import ToolResult


class Road(Protocol):
    """The way an agent's tool calls go through the sidecar."""

    async def call(self, invocation: Invocation, call_id: str) -> ToolResult:
        """The tool's answer as the agent gets it."""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a task: `llm`, `tool` where the agent waited for one, `person`. Uncompressed seconds."""

    what: str
    began: float
    ended: float


@dataclass(frozen=True, slots=True)
class Played:
    """A task as it went."""

    session: str
    began: float
    ended: float
    spans: tuple[Span, ...]
    asks: tuple[Ask, ...]
    view: str
    """Hex digest of everything the agent saw."""

    @property
    def task_s(self) -> float:
        """Time of the whole task but for what a person took to reply."""
        return self.ended - self.began - self.time_in("person")

    def time_in(self, what: str) -> float:
        """Time in spans of one kind."""
        return sum(span.ended - span.began for span in self.spans if span.what == what)


@dataclass(frozen=True, slots=True)
class _Call:
    """A tool call as the agent assembled it from the stream."""

    id: str
    name: str
    arguments: str


class Agent:
    """Plays one script.

    Args:
        tools: names of all tools that such agents have.
        masked: takes out of a tool's output what differs in every run of it, before it counts as seen.
    """

    def __init__(
        self,
        script: Script,
        *,
        http: aiohttp.ClientSession,
        llm: str,
        road: Road,
        pace: Pace,
        tools: Iterable[str] = (),
        masked: Callable[[bytes], bytes] = bytes,
    ) -> None:
        self._script, self._http, self._llm, self._road, self._pace = script, http, llm, road, pace
        self._masked = masked
        self._messages: list[dict[str, object]] = [{"role": "system", "content": "Use the tools you are given."}]
        self._view = sha256()
        self._spans: list[Span] = []
        self._asks: list[Ask] = []
        names = sorted({*tools, *(call.invocation.tool for call in script.calls)})
        self._tools = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in names]

    async def play(self) -> Played:
        """The whole task, turn by turn."""
        began = self._pace.now()
        for number, turn in enumerate(self._script.turns):
            if turn.heard and number:
                await self._reply()
            await self._turn(turn)
        return Played(
            session=self._script.session,
            began=began,
            ended=self._pace.now(),
            spans=tuple(self._spans),
            asks=tuple(self._asks),
            view=self._view.hexdigest(),
        )

    async def _reply(self) -> None:
        """A person takes their time."""
        began = self._pace.now()
        await self._pace.sleep(REPLY_S)
        self._spans.append(Span("person", began, self._pace.now()))

    async def _turn(self, turn: ScriptedTurn) -> None:
        self._messages += [{"role": "user", "content": text} for text in turn.heard]
        began = self._pace.now()
        text, calls = await self._ask_llm()
        self._spans.append(Span("llm", began, self._pace.now()))
        self._messages.append(_assistant(text, calls))
        if not calls:
            return
        await self._pace.sleep(DISPATCH_S)
        began = self._pace.now()
        results = await self._run(calls)
        self._spans.append(Span("tool", began, self._pace.now()))
        for call, result in zip(calls, results, strict=True):
            self._view.update(result.status.encode() + b" " + self._masked(result.body))
            content = result.body.decode("utf-8", "replace")
            self._messages.append({"role": "tool", "tool_call_id": call.id, "content": content})

    async def _ask_llm(self) -> tuple[str, list[_Call]]:
        request = {
            "model": MODEL_PREFIX + self._script.session,
            "stream": True,
            "messages": self._messages,
            "tools": self._tools,
        }
        headers = {"content-type": "application/json", "x-paste-session": self._script.session}
        body = json.dumps(request).encode()
        async with self._http.post(f"{self._llm}/chat/completions", data=body, headers=headers) as answer:
            stream = await answer.read()
            if answer.status != 200:
                raise OurFault(f"the LLM route answered {answer.status}: {stream[:300]!r}")
        self._view.update(stream)
        return read_stream(stream)

    async def _run(self, calls: list[_Call]) -> list[ToolResult]:
        """Side by side, as clients run reads; one after the other where one of them writes."""
        if any(writes(call.name) for call in calls):
            return [await self._run_one(call) for call in calls]
        return list(await asyncio.gather(*(self._run_one(call) for call in calls)))

    async def _run_one(self, call: _Call) -> ToolResult:
        invocation = Invocation(call.name, read_arguments(call.arguments))
        asked = self._pace.now()
        result = await self._road.call(invocation, call.id)
        self._asks.append(Ask(self._script.session, invocation, asked, self._pace.now()))
        return result


def read_stream(stream: bytes) -> tuple[str, list[_Call]]:
    """Text and calls of a streamed Chat Completions answer."""
    text: list[str] = []
    heads: dict[int, tuple[str, str]] = {}
    arguments: dict[int, list[str]] = {}
    for line in stream.split(b"\n"):
        if not line.startswith(b"data: {"):
            continue
        for choice in json.loads(line[6:])["choices"]:
            delta = choice["delta"]
            text.append(delta.get("content") or "")
            for part in delta.get("tool_calls", ()):
                index, function = part["index"], part["function"]
                if "id" in part:
                    heads[index] = (part["id"], function["name"])
                arguments.setdefault(index, []).append(function["arguments"])
    calls = [_Call(*heads[index], "".join(arguments[index])) for index in sorted(heads)]
    return "".join(text), calls


def _assistant(text: str, calls: list[_Call]) -> dict[str, object]:
    message: dict[str, object] = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in calls
        ]
    return message
