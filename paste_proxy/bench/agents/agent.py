"""Recorded sessions asked of a real engine: what was said and what tools gave as recorded, answers of the recorded
lengths, and the recorded waits between turns. What the engine writes is not looked at."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from paste_proxy.bench.latency import CHARACTERS_PER_TOKEN, tokens
from paste_proxy.bench.script import Script, ScriptedTurn
from paste_proxy.errors import UpstreamFault

_LEAST = 4
"""Tokens of an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How recorded sessions are cut to what a small engine on a small machine can serve."""

    turns: int
    answer_tokens: int
    text_tokens: int
    """Of each message."""
    speed: float
    """By which waits are shortened."""


@dataclass(slots=True)
class Asked:
    """What some agents saw."""

    turns_s: list[float] = field(default_factory=list)
    first_s: list[float] = field(default_factory=list)
    """To the first of each answer."""
    sessions_s: list[float] = field(default_factory=list)
    """Without what people took."""
    pieces: int = 0
    """Parts of answers; most engines send a token in each."""


class Agent:
    """One session.

    Args:
        mark: the first words, so that no engine has read any of it before.
    """

    def __init__(self, http: aiohttp.ClientSession, url: str, model: str, shape: Shape, mark: str) -> None:
        self._http, self._url, self._model, self._shape = http, url, model, shape
        self._mark = mark
        self._messages: list[dict[str, str]] = [{"role": "system", "content": mark}]

    async def play(self, script: Script, asked: Asked) -> None:
        """From its first turn to its last.

        Raises:
            UpstreamFault: an answer was none.
        """
        began = time.monotonic()
        for number, turn in enumerate(script.turns[: self._shape.turns]):
            if number:
                await asyncio.sleep(_wait_s(script.turns[number - 1]) / self._shape.speed)
            self._say("user", *turn.heard)
            await self._turn(turn, asked)
            self._say("assistant", turn.text)
            self._say("user", *(call.result.body.decode("utf-8", "replace") for call in turn.calls))
        asked.sessions_s.append(time.monotonic() - began)

    def _say(self, role: str, *texts: str) -> None:
        most = self._shape.text_tokens * CHARACTERS_PER_TOKEN
        said = "\n".join(text[:most] for text in texts if text)
        if not said:
            return
        if self._messages[-1]["role"] == role:
            self._messages[-1]["content"] += "\n" + said
        else:
            self._messages.append({"role": role, "content": said})

    async def _turn(self, turn: ScriptedTurn, asked: Asked) -> None:
        request: dict[str, Any] = {
            "model": self._model,
            "messages": self._messages,
            "stream": True,
            "temperature": 0,
            "max_tokens": min(self._shape.answer_tokens, max(_LEAST, _tokens(turn))),
            "ignore_eos": True,
        }
        began, first = time.monotonic(), 0.0
        headers = {"x-paste-session": self._mark}
        async with self._http.post(f"{self._url}/chat/completions", json=request, headers=headers) as answer:
            if answer.status != 200:
                raise UpstreamFault(f"{self._url} answers with status {answer.status}: {(await answer.text())[:300]}")
            async for line in answer.content:
                if line.startswith(b"data: {"):
                    first = first or time.monotonic()
                    asked.pieces += 1
        asked.turns_s.append(time.monotonic() - began)
        asked.first_s.append((first or time.monotonic()) - began)


def _tokens(turn: ScriptedTurn) -> int:
    return tokens(turn.text) + sum(tokens(str(call.invocation.arguments)) for call in turn.calls)


def _wait_s(turn: ScriptedTurn) -> float:
    return max((call.latency_s for call in turn.calls), default=0.0)


async def play_all(agents: Sequence[tuple[Agent, Script]], gap_s: float) -> Asked:
    """All of them, each beginning so long after the one before."""
    asked = Asked()

    async def play(place: int, agent: Agent, script: Script) -> None:
        await asyncio.sleep(place * gap_s)
        await agent.play(script, asked)

    await asyncio.gather(*(play(place, *one) for place, one in enumerate(agents)))
    return asked
