"""The LLM and the tools of a replay: they answer as recorded, in their stated or recorded time."""

from collections.abc import Iterable

import orjson

from paste_proxy.bench.account import ToolRun
from paste_proxy.bench.pace import Pace
from paste_proxy.bench.script import Script, ScriptedTurn
from paste_proxy.bench.world import World
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult
from paste_proxy.testing import ScriptedAnswer

MODEL_PREFIX = "replay:"
"""The model an agent asks for names its session."""


class RecordedLlm:
    """Finds the turn that a request asks for, by the session its model names and the turns it holds."""

    def __init__(self, scripts: Iterable[Script], pace: Pace) -> None:
        self._turns = {script.session: script.turns for script in scripts}
        self._pace = pace

    def answer(self, body: bytes) -> ScriptedAnswer:
        """The recorded turn, at the replay's speed."""
        request = orjson.loads(body)
        session = request["model"].removeprefix(MODEL_PREFIX)
        past = sum(message["role"] == "assistant" for message in request["messages"])
        return answer_of(self._turns[session][past], self._pace.speed, f"chatcmpl-{session}-{past}")


def answer_of(turn: ScriptedTurn, speed: float, answer_id: str) -> ScriptedAnswer:
    """A turn as the scripted server streams it."""
    return ScriptedAnswer(
        id=answer_id,
        text=turn.text,
        calls=tuple((call.call_id, call.invocation.tool, call.arguments) for call in turn.calls),
        first_token_s=turn.first_token_s / speed,
        stream_s=turn.stream_s / speed,
    )


class RecordedTools:
    """Runs calls in a world and keeps the book of them."""

    def __init__(self, name: str, scripts: Iterable[Script], pace: Pace) -> None:
        self.world = World(scripts)
        self.runs: list[ToolRun] = []
        self._name, self._pace = name, pace

    async def run(self, invocation: Invocation) -> ToolResult:
        """The call's answer after its latency; a speculative call costs what a real one does."""
        began = self._pace.now()
        answer = self.world.answer(invocation)
        whole = False
        try:
            await self._pace.sleep(answer.latency_s)
            whole = True
        finally:
            run = ToolRun(self._name, invocation, began, self._pace.now(), cancelled=not whole)
            self.runs.append(run)
        return answer.result
