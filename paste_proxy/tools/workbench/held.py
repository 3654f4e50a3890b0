"""A command that is run ahead in a view of its own, what it did held back until the agent asks for it."""

import asyncio
from dataclasses import replace

from paste_proxy.errors import UpstreamFault
from paste_proxy.events.result import ToolResult
from paste_proxy.staging.stage import Stage, Unfinished
from paste_proxy.staging.stages import Stages
from paste_proxy.staging.types import Refused, Staged
from paste_proxy.staging.view import Running
from paste_proxy.tools.backend import PartDone
from paste_proxy.tools.workbench.output import result_of
from paste_proxy.tools.workbench.running import half_done


class HeldCommand:
    """One that came to its end; see `Held`."""

    def __init__(self, stages: Stages, stage: Stage, result: ToolResult) -> None:
        self._stages, self._stage = stages, stage
        self._result = replace(result, cpu_s=stage.ran.cpu_s)

    @property
    def result(self) -> ToolResult:
        """What the agent is to see, if it is committed."""
        return self._result

    @property
    def changes(self) -> bool:
        """Whether anything is otherwise once it is committed."""
        return self._stage.changes

    async def commit(self) -> bool:
        """Let it have happened; False: nothing has, and the command has to be run."""
        try:
            return await self._stages.commit(self._stage, self._stage.staged) is not None
        except Unfinished as fault:  # to run it now would do a part of it twice
            told = result_of(half_done(self._stage.ran, str(fault)), failed=True)
            raise PartDone(told) from fault

    async def discard(self) -> None:
        """Leave nothing of it."""
        self._stages.discard(self._stage, "nobody asked for it")


async def run_ahead(stages: Stages, command: Staged, wanted: asyncio.Event) -> Stage:
    """Run it to its end. Cancelling discards it.

    Args:
        wanted: set once the agent waits for it.

    Raises:
        UpstreamFault: it could not be run so, or cannot be committed.
    """
    running = Running()
    promoting = asyncio.create_task(_promote(running, wanted))
    try:
        return await stages.stage(command, running)
    except Refused as why:
        raise UpstreamFault(f"the command cannot be run ahead: {why}") from why
    finally:
        promoting.cancel()


async def _promote(running: Running, wanted: asyncio.Event) -> None:
    await wanted.wait()
    running.promote()
