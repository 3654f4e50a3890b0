"""Recorded sessions as they would have gone in the project: what there is to mine.

The calls are really made, one after another, in a copy of the project for each session; only suites are run but once
for each command, since nothing that sessions do changes their outcome.
"""

import asyncio
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from paste_proxy.bench.coding.commands import is_suite, without_cut
from paste_proxy.bench.coding.mapping import Project, mapped
from paste_proxy.bench.coding.project import make_project
from paste_proxy.bench.script import Script, ScriptedTurn
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult
from paste_proxy.events.types import Event, LlmTurn, ToolCall, ToolOutput, UserMessage
from paste_proxy.staging.types import Ran, Staged
from paste_proxy.tools.workbench.backend import Workbench
from paste_proxy.tools.workbench.running import run_normally

SERVER = "workbench"


@dataclass(frozen=True, slots=True)
class LivedSession:
    """A session with what its calls came to."""

    id: str
    source: str
    events: tuple[Event, ...]


async def live(
    scripts: Iterable[Script], folder: Path, on_session: Callable[[], None] = lambda: None
) -> list[LivedSession]:
    """Each session, from its beginning to its end, below a folder."""
    suites, original, place = _Suites(), folder / "original", folder / "project"
    await asyncio.to_thread(make_project, original)
    sessions = []
    for script in scripts:
        await asyncio.to_thread(shutil.copytree, original, place)
        sessions.append(await _lived(mapped(script, Project()), Workbench(place, runner=suites.run)))
        await asyncio.to_thread(shutil.rmtree, place)
        on_session()
    return sessions


class _Suites:
    """A runner that remembers what suites came to."""

    def __init__(self) -> None:
        self._ran: dict[str, Ran] = {}

    async def run(self, command: Staged, *, started: Callable[[int], None] = lambda pid: None) -> Ran:
        line = command.argv[-1]
        if not is_suite(line):
            return await run_normally(command, started=started)
        core, lines = without_cut(line)
        if core not in self._ran:
            self._ran[core] = await run_normally(replace(command, argv=(*command.argv[:-1], core)))
        ran = self._ran[core]
        return ran if lines is None else replace(ran, output=b"".join(ran.output.splitlines(keepends=True)[lines]))


async def _lived(script: Script, workbench: Workbench) -> LivedSession:
    events, now = list[Event](), 0.0
    for number, turn in enumerate(script.turns):
        now += turn.first_token_s + turn.stream_s
        events += _said(script.session, turn, number, now)
        for call in turn.calls:
            invocation = Invocation(f"{SERVER}/{call.invocation.tool}", call.invocation.arguments)
            began = time.monotonic()
            result = await workbench.run(invocation, speculative=False)
            took_s = time.monotonic() - began
            events += _done(script.session, call.call_id, invocation, number, now, result, took_s)
            now += took_s
    return LivedSession(script.session, "", tuple(events))


def _said(session: str, turn: ScriptedTurn, number: int, now: float) -> Iterator[Event]:
    for text in turn.heard:
        yield UserMessage(session=session, ts=now - turn.first_token_s - turn.stream_s, text=text)
    yield LlmTurn(session=session, ts=now, text=turn.text, turn=number, duration_s=turn.first_token_s + turn.stream_s)


def _done(
    session: str, call_id: str, invocation: Invocation, turn: int, now: float, result: ToolResult, took_s: float
) -> Iterator[Event]:
    yield ToolCall(session=session, ts=now, call_id=call_id, invocation=invocation, turn=turn)
    yield ToolOutput(
        session=session,
        ts=now + took_s,
        call_id=call_id,
        tool=invocation.tool,
        output=result.value(),
        status=result.status,
        duration_s=took_s,
    )
