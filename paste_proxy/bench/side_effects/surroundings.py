"""The LLM and the tools behind the measured sidecar, and the book of every request that reached them."""

from collections.abc import Sequence

from paste_proxy.bench.account import Account, Ask, ToolRun, settle
from paste_proxy.bench.pace import Pace
from paste_proxy.bench.script import Script
from paste_proxy.bench.side_effects.tools import CRM, DISPATCH, OWN, WEB, has_effects
from paste_proxy.bench.side_effects.traffic import Kind, Task, spoken
from paste_proxy.bench.standins import RecordedLlm, RecordedTools
from paste_proxy.bench.world import World
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult
from paste_proxy.testing import ScriptedAnswer

_SHOWN = 200


class Surroundings:
    """Answer as recorded to the sessions that are played now; whatever nobody recorded gets a neutral answer.

    Args:
        unwanted: what LLMs write and persons forbid.
    """

    def __init__(self, pace: Pace, unwanted: Sequence[Invocation]) -> None:
        self.pace, self.unwanted = pace, unwanted
        self._servers = {name: RecordedTools(name, [], pace) for name in (DISPATCH, WEB, CRM)}
        self._own: dict[str, RecordedTools] = {}
        """By session, the tools in its agent's process."""
        self._llm = RecordedLlm([], pace)
        self._asks: list[Ask] = []
        self._world_of: dict[str, str] = {}

    def enter(self, batch: Sequence[Task]) -> None:
        """These sessions are played from now on."""
        self._llm = RecordedLlm(map(self.spoken, batch), self.pace)
        for name, tools in self._servers.items():
            tools.world = World(task.script for task in batch if task.kind == name)
        for task in batch:
            session, world = task.script.session, str(task.kind)
            if task.kind is Kind.AIRLINE:
                world = f"{OWN}:{session}"
                self._own[session] = RecordedTools(world, [task.script], self.pace)
            self._world_of[session] = world

    def spoken(self, task: Task) -> Script:
        """What the session's LLM writes."""
        return spoken(task, self.unwanted)

    def asked(self, task: Task, invocation: Invocation, asked: float, answered: float) -> None:
        """An agent called a tool, by its bare name."""
        self._asks.append(Ask(task.script.session, invocation, asked, answered))

    @property
    def sessions(self) -> int:
        """That were played."""
        return len(self._world_of)

    @property
    def calls(self) -> int:
        """That agents made."""
        return len(self._asks)

    def answer(self, body: bytes) -> ScriptedAnswer:
        """The LLM's answer to a request."""
        return self._llm.answer(body)

    async def run(self, server: str, invocation: Invocation) -> ToolResult:
        """A call reaches a server's tool."""
        return await self._servers[server].run(invocation)

    async def run_own(self, session: str, invocation: Invocation) -> ToolResult:
        """A call reaches a tool in an agent's process."""
        return await self._own[session].run(invocation)

    def account(self) -> Account:
        """Which runs had begun before an agent asked for them, or without."""
        return settle(self._asks, self._runs(), self._world_of)

    def effects(self) -> list[str]:
        """The runs that may have changed something, one line each: no agent asks for any."""
        return [
            f"{run.world} was asked for {run.invocation.key[:_SHOWN]}"
            for run in self._runs()
            if has_effects(run.world.partition(":")[0], run.invocation)
        ]

    def _runs(self) -> list[ToolRun]:
        return [run for tools in (*self._servers.values(), *self._own.values()) for run in tools.runs]
