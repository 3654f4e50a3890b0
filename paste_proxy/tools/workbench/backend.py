"""The tools of one workspace as a backend: the same code answers what an agent asks and what is run ahead.

A command can be run ahead, too, where there are stages: it is then held back until the agent asks for it.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ValidationError

from paste_proxy.errors import UpstreamFault
from paste_proxy.events.invocation import Invocation, name_of
from paste_proxy.events.result import ToolResult
from paste_proxy.events.values import dumps
from paste_proxy.speculation.plainly_reading import only_reads
from paste_proxy.staging.normal import OWN_UMASK
from paste_proxy.staging.types import Staged, Tier
from paste_proxy.tools.backend import Preparable
from paste_proxy.tools.workbench.aside import Aside, in_thread
from paste_proxy.tools.workbench.declared import ALL, READING, Declared
from paste_proxy.tools.workbench.editing import Edit, Write, change
from paste_proxy.tools.workbench.globbing import Glob, find_files
from paste_proxy.tools.workbench.listing import List, list_folder
from paste_proxy.tools.workbench.output import result_of
from paste_proxy.tools.workbench.pipes import may_empty_a_pipe
from paste_proxy.tools.workbench.reading import Read, read
from paste_proxy.tools.workbench.running import NO_MORE, UNNOTICED, Run, Runner, answered, run_normally, staged
from paste_proxy.tools.workbench.searching import Grep, grep
from paste_proxy.tools.workbench.warming import named
from paste_proxy.tools.workbench.workspace import Unable, Workspace
from paste_proxy.wire.mcp_tools import ListedTool, listed_tools

if TYPE_CHECKING:
    from paste_proxy.staging.stages import Stages
    from paste_proxy.tools.workbench.held import HeldCommand


class Workbench:
    """The tools of one workspace.

    Args:
        root: the folder, absolute.
        read_only: leave out those that change something.
        env: for commands, beside our own environment.
        runner: runs commands, their effects happening at once.
        stages: where commands may be run ahead; None: nowhere.
    """

    def __init__(
        self,
        root: Path,
        *,
        read_only: bool = False,
        env: Mapping[str, str] | None = None,
        runner: Runner = run_normally,
        stages: "Stages | None" = None,
    ) -> None:
        self.workspace = Workspace(root)
        self.tools: dict[str, Declared] = {tool.name: tool for tool in (READING if read_only else ALL)}
        self._env, self._runner = {**os.environ, **(env or {})}, runner
        self._stages = stages

    def listing(self) -> bytes:
        """The tools, as the raw JSON of a `tools/list` result."""
        return dumps({"tools": [tool.listed() for tool in self.tools.values()]})

    async def run(self, invocation: Invocation, *, speculative: bool) -> ToolResult:
        """The answer, as the raw JSON of a `tools/call` result: one text, with `isError` where it could not be done.

        Raises:
            UpstreamFault: there is no such tool here.
        """
        return await self._result(invocation, ahead=speculative)

    async def run_aside(self, invocation: Invocation, wanted: asyncio.Event) -> ToolResult:
        """See `GivingWay`."""
        aside = Aside(wanted)
        try:
            return await self._result(invocation, aside, ahead=True)
        finally:
            aside.over()

    async def _result(self, invocation: Invocation, aside: Aside | None = None, *, ahead: bool) -> ToolResult:
        tool = self.tools.get(name_of(invocation.tool))
        if tool is None:
            raise UpstreamFault(f"no tool {name_of(invocation.tool)!r}; there are {', '.join(self.tools)}")
        try:
            return result_of(await self._answer(tool.read(invocation.arguments), aside, ahead=ahead))
        except Unable as unable:
            return result_of(str(unable), failed=True)
        except OSError as fault:
            where = f"{fault.filename}: " if fault.filename is not None else ""
            return result_of(f"{where}{fault.strerror or fault}", failed=True)

    def stages(self, invocation: Invocation) -> bool:
        """Whether a call can be run with its effects held back: one of `run`, on a machine that can."""
        able = self._stages is not None and self._stages.tier is not Tier.NONE
        return able and "run" in self.tools and name_of(invocation.tool) == "run"

    async def stage(self, invocation: Invocation, wanted: asyncio.Event) -> "HeldCommand":
        """See `Staging`."""
        from paste_proxy.tools.workbench.held import HeldCommand, run_ahead  # as little is loaded as `stages` needs

        assert self._stages is not None
        try:
            command = await self._command(Run.model_validate(invocation.arguments))
        except (Unable, ValidationError, OSError) as fault:
            raise UpstreamFault(f"no such command can be run: {fault}") from fault
        stage = await run_ahead(self._stages, command, wanted)
        return HeldCommand(self._stages, stage, result_of(answered(stage.ran)))

    def needs(self, invocation: Invocation) -> Iterable[Preparable]:
        """The files that a call names; see `Preparing`."""
        return named(self.workspace, invocation)

    def warm(self) -> None:
        """There is nothing to get ready."""

    async def list_tools(self) -> tuple[ListedTool, ...]:
        """The tools, as a client is told of them."""
        return listed_tools(self.listing())

    async def retire(self) -> None:
        """There is nothing to release."""

    async def close(self) -> None:
        """There is nothing to release: what runs ends with its own cancellation."""

    async def _answer(self, asked: BaseModel, aside: Aside | None, *, ahead: bool) -> str:
        in_a_thread = in_thread if aside is None else aside.in_thread
        turn, started = (nullcontext(), _unminded) if aside is None else (aside.turn(), aside.started)
        match asked:
            case Read():
                return await in_a_thread(read, self.workspace, asked)
            case List():
                return await in_a_thread(list_folder, self.workspace, asked)
            case Glob():
                return await in_a_thread(find_files, self.workspace, asked)
            case Grep():
                async with turn:
                    return await grep(self.workspace, asked, started=started)
            case Edit() | Write():
                async with self._changing():
                    return await in_thread(change, self.workspace, asked)
            case Run():
                reads = only_reads(asked.command)
                command = await self._command(asked, UNNOTICED if reads and ahead else NO_MORE)
                if reads and ahead and await in_thread(may_empty_a_pipe, asked.command, command.cwd):
                    raise UpstreamFault("the command may read from a pipe, which is for the agent to empty")
                if reads:  # if it changes something yet, the proof before a commit finds it
                    async with turn:
                        return answered(await self._runner(command, started=started))
                async with self._changing():
                    return answered(await self._runner(command))
            case _:
                raise TypeError(f"{type(asked).__name__} is no tool's")

    async def _command(self, asked: Run, env: Mapping[str, str] = NO_MORE) -> Staged:
        return await in_thread(staged, self.workspace, asked, env={**self._env, **env}, umask=OWN_UMASK)

    @asynccontextmanager
    async def _changing(self) -> AsyncIterator[None]:
        """Meanwhile something in the workspace may change: nothing is staged there."""
        if self._stages is None:
            yield
            return
        root = await in_thread(lambda: str(self.workspace.root))
        async with self._stages.writing(root):
            yield


def _unminded(pid: int) -> None:
    """Of a process that an agent waits for nothing needs to be known."""
