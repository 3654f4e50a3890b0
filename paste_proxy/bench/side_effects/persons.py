"""How an agent's calls go out: one that its person forbids does not."""

from paste_proxy.bench.agent import Road
from paste_proxy.bench.side_effects.surroundings import Surroundings
from paste_proxy.bench.side_effects.traffic import Task, is_forbidden
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status, ToolResult

FORBIDDEN = ToolResult(body=b"The user does not want this to be done.", status=Status.ERROR)


class Watched:
    """The way of a session's calls under the eyes of a person."""

    def __init__(self, road: Road, task: Task, surroundings: Surroundings) -> None:
        self._road, self._task, self._surroundings = road, task, surroundings

    async def call(self, invocation: Invocation, call_id: str) -> ToolResult:
        """The answer of the tool that is meant, or that it is forbidden."""
        if is_forbidden(call_id):
            return FORBIDDEN
        meant = Invocation(invocation.tool.removeprefix(self._task.prefix), invocation.arguments)
        pace = self._surroundings.pace
        asked = pace.now()
        result = await self._road.call(meant, call_id)
        self._surroundings.asked(self._task, meant, asked, pace.now())
        return result
