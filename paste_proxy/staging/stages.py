"""The owner of all stages: which may start, when they end, and the one commit at a time.

A stage stands on its workspace as it was. So it ends when another commit or a tool of the agent's changes something
there, and none starts while one does. That is for the sake of time: the proof before each commit finds all of it, too.
"""

import asyncio
import shutil
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import structlog

from paste_proxy.clock import Clock
from paste_proxy.staging.base import Claim, Recovered, recover
from paste_proxy.staging.forks import Forks
from paste_proxy.staging.gone import Sweep, put_away
from paste_proxy.staging.plan import Rules, within
from paste_proxy.staging.probe import probe
from paste_proxy.staging.stage import Event, Stage, State, Unfinished
from paste_proxy.staging.tally import Cause, StageTally, Step, cause_of
from paste_proxy.staging.types import Ran, Refused, Staged, Tier
from paste_proxy.staging.view import Running, run_in_view

log = structlog.get_logger(__name__)

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Of all stages together."""

    stages: int = 4
    bytes: int = 8 * 2**30
    """On the disk; each stage has an equal share."""
    age_s: float = 60.0
    """From a command's start; what it came to is not committed later."""
    output_bytes: int = 16 * 2**20
    sweep_s: float = 1.0
    """At the end, for what is over to be taken away. What is left then, the next start takes."""


class Stages:
    """All stages of this process.

    Args:
        base: the folder where they lie, on a file system that overlays can keep changes on, best that of the
            workspaces; not in any of them.
        outside: directories beside the workspace where changes are committed, too.
    """

    def __init__(self, base: Path, clock: Clock, *, outside: tuple[str, ...], bounds: Bounds) -> None:
        self.base, self._clock, self._outside, self._bounds = base, clock, outside, bounds
        self.tier, self.reason = Tier.NONE, "it is not open"
        self.recovered = Recovered()
        self.tally = StageTally()
        self._claim: Claim | None = None
        self._forks = Forks()
        self._sweep = Sweep(base, self._forks)
        self._started = 0
        self._stages: dict[Stage, float] = {}
        """And when each was started."""
        self._runs: dict[Stage, asyncio.Task[None]] = {}
        self._expiry: dict[Stage, asyncio.TimerHandle] = {}
        self._writes: Counter[str] = Counter()
        self._broken: set[str] = set()
        self._one = asyncio.Lock()
        self._tasks: set[asyncio.Task[Any]] = set()

    async def recover(self) -> None:
        """Finish what earlier processes left, which is told in `recovered`; best before anybody looks at the workspace.
        Raises nothing."""
        try:
            self.recovered = await asyncio.to_thread(recover, self.base)
        except OSError as fault:
            log.warning("stages_not_recovered", folder=str(self.base), fault=str(fault))
        for folder in self.recovered.unfinished:
            log.error("commit_unfinished", folder=folder)

    async def open(self) -> None:
        """Find out what this machine can do: `tier`, and if it is none the `reason`. Raises nothing."""
        try:
            self._claim = await asyncio.to_thread(Claim, self.base)
            self.tier, self.reason = await probe(str(self._claim.folder), self._forks)
            if self.tier is Tier.NONE:
                await self._forks.close()
            else:
                self._sweep.begin()  # what earlier processes left
        except OSError as fault:
            self.tier, self.reason = Tier.NONE, f"{self.base} cannot be used: {fault}"

    async def stage(self, staged: Staged, running: Running | None = None) -> Stage:
        """Run a command to its end in a view, and be ready to commit it. Cancelling discards it.

        Raises:
            Refused: it could not be run so, or cannot be committed.
        """
        try:
            stage = self._admitted(staged)
        except Refused:
            self.tally.refused[Cause.MACHINE if self.tier is Tier.NONE else Cause.BUSY] += 1
            raise
        run = self._runs[stage] = self._task(self._run(stage, running))
        run.add_done_callback(lambda _: self._ran(stage))
        try:
            await asyncio.wait({run})
        except asyncio.CancelledError:
            self.discard(stage, "it was cancelled", Cause.UNASKED)
            await asyncio.wait({run})
            raise
        if stage.state is State.DISCARDED:
            raise Refused(stage.reason)
        return stage

    async def commit(self, stage: Stage, asked: Staged) -> Ran | None:
        """Let its effects happen, all of them, and have what it came to. None: nothing has happened, and `asked` has
        to be run. Cancelling waits until it is over.

        Args:
            asked: what is to be run now.

        Raises:
            Unfinished: only a part of them could be made to happen. `asked` must not be run.
        """
        return await self._whole(self._commit(stage, asked))

    def discard(self, stage: Stage, reason: str, cause: Cause = Cause.UNASKED) -> None:
        """Leave nothing of it, unless it is being committed, or was."""
        if not self._drop(stage, reason, cause):
            return
        run = self._runs.get(stage)
        if run is not None:
            run.cancel()
        else:
            self._end(stage)

    def void(self, workspace: str, reason: str) -> None:
        """Something in a workspace was changed: no stage of it, or of one within or around it, is any good."""
        for stage in [stage for stage in self._stages if _overlap(stage.staged.workspace, workspace)]:
            self.discard(stage, reason, Cause.VOID)

    @asynccontextmanager
    async def writing(self, workspace: str) -> AsyncIterator[None]:
        """A tool of the agent's may change something in a workspace meanwhile. It waits for a commit on its way."""
        async with self._one:
            self._writes[workspace] += 1
            self.void(workspace, "a tool began to write")
        try:
            yield
        finally:
            self._writes[workspace] -= 1
            self._writes += Counter()  # without those that are none
            self.void(workspace, "a tool wrote")

    async def close(self) -> None:
        """End everything and leave no process. Safe to call twice."""
        self.tier, self.reason = Tier.NONE, "it is closed"
        for stage in list(self._stages):
            self.discard(stage, self.reason)
        while self._tasks:
            await asyncio.wait(self._tasks)
        await self._sweep.close(self._bounds.sweep_s)
        await self._forks.close()
        claim, self._claim = self._claim, None
        if claim is not None:
            try:
                await asyncio.to_thread(claim.release, keep=bool(self._broken))
            except OSError as fault:
                log.warning("stages_left", folder=str(claim.folder), fault=str(fault))

    def _admitted(self, staged: Staged) -> Stage:
        workspace, claim = staged.workspace, self._claim
        if self.tier is Tier.NONE or claim is None:
            raise Refused(self.reason)
        if within(str(claim.folder), workspace):
            raise Refused(f"stages lie in the workspace, under {self.base}")
        if any(_overlap(workspace, other) for other in self._writes):
            raise Refused("a tool is writing")
        if any(_overlap(workspace, other) for other in self._broken):
            raise Refused("an earlier commit is not finished")
        if len(self._stages) >= self._bounds.stages:
            raise Refused("there are enough stages")
        self._started += 1
        rules = Rules(workspace, self._outside, str(claim.folder.parent))
        stage = Stage(staged, claim.folder / f"stage-{self._started}", self.tier, rules)
        self._stages[stage] = self._clock.monotonic()
        return stage

    async def _run(self, stage: Stage, running: Running | None) -> None:
        bounds, staged, cause = self._bounds, stage.staged, Cause.MACHINE
        try:
            if not stage.tell(Event.STARTED):
                return
            share = bounds.bytes // bounds.stages
            began = self._clock.monotonic()
            await self._whole(asyncio.to_thread(self._prepare, stage, share))
            self.tally.staged += 1
            ran = await run_in_view(
                staged,
                stage.overlays,
                self.tier,
                self._forks,
                folder=str(stage.folder),
                output_bytes=bounds.output_bytes,
                disk_bytes=share,
                running=running,
            )
            cause = cause_of(ran.poisons[0]) if ran.poisons else Cause.EFFECTS
            await self._whole(asyncio.to_thread(stage.read, ran))
            self.tally.took_s[Step.SET_UP].append(max(0.0, self._clock.monotonic() - began - ran.ran_s))
            stage.tell(Event.ENDED)
        except Refused as why:
            self._drop(stage, str(why), cause)
        except Exception as fault:  # noqa: BLE001  whatever it is, the command is run as usual
            log.warning("staging_fault", fault=repr(fault))
            self._drop(stage, f"it could not be staged: {fault}", Cause.FAULT)

    def _ran(self, stage: Stage) -> None:
        """Its run is over, if it ever began."""
        del self._runs[stage]
        if stage.state is State.READY:
            expire = asyncio.get_running_loop().call_later
            self._expiry[stage] = expire(self._bounds.age_s, self.discard, stage, "nobody asked for it in time")
        else:
            self._drop(stage, "it was cancelled", Cause.UNASKED)
            self._end(stage)

    def _drop(self, stage: Stage, reason: str, cause: Cause) -> bool:
        """Let it be discarded. False: it cannot be any more, or is already."""
        dropped = stage.tell(Event.DROPPED, reason)
        if dropped:
            self.tally.refused[cause] += 1
            log.debug("stage_discarded", cause=cause.value, reason=reason)
        return dropped

    def _prepare(self, stage: Stage, share: int) -> None:
        if shutil.disk_usage(self.base).free < share:
            raise Refused(f"the disk of {self.base} is too full")
        stage.prepare()

    async def _commit(self, stage: Stage, asked: Staged) -> Ran | None:
        async with self._one:
            if why := self._unfit(stage, asked):
                self.discard(stage, why)
                return None
            if not stage.tell(Event.ASKED):
                return None
            try:
                await self._timed(Step.PROOF, stage.prove)
            except Exception as why_not:  # noqa: BLE001  whatever it is, nothing has happened
                self.discard(stage, str(why_not), Cause.CHANGED if isinstance(why_not, Refused) else Cause.FAULT)
                return None
            if not stage.tell(Event.PROVEN):
                return None
            try:
                left = await self._timed(Step.COMMIT, stage.commit)
            except Unfinished as fault:
                self.tally.unfinished += 1
                self._broken.add(stage.staged.workspace)
                self._forget(stage)
                log.error("commit_unfinished", folder=str(stage.folder), fault=str(fault))
                raise
            except OSError as fault:
                stage.tell(Event.FAILED, f"it could not be decided: {fault}")
                self.tally.refused[Cause.FAULT] += 1
                self._end(stage)
                return None
            stage.tell(Event.DONE)
            self.tally.committed += 1
            self._forget(stage)
            if stage.changes_workspace:
                self.void(stage.staged.workspace, "another command changed the workspace")
            if left:
                log.warning("commit_left", count=left)
            self._end(stage)
            return stage.ran

    async def _timed(self, step: Step, act: Callable[[], _T]) -> _T:
        began = self._clock.monotonic()
        done = await asyncio.to_thread(act)
        self.tally.took_s[step].append(self._clock.monotonic() - began)
        return done

    def _unfit(self, stage: Stage, asked: Staged) -> str:
        if asked != stage.staged:
            return "something else was asked for"
        if self._clock.monotonic() - self._stages.get(stage, float("-inf")) > self._bounds.age_s:
            return "it is too old"
        return ""

    def _forget(self, stage: Stage) -> None:
        self._stages.pop(stage, None)
        if expiry := self._expiry.pop(stage, None):
            expiry.cancel()

    def _end(self, stage: Stage) -> None:
        """It has nothing to do any more."""
        self._forget(stage)
        self._task(self._put_away(stage))

    async def _put_away(self, stage: Stage) -> None:
        try:
            await asyncio.to_thread(put_away, stage.folder, self.base)
        except FileNotFoundError:  # it had not begun
            return
        except OSError as fault:  # `recover` tries again
            log.warning("stage_left", folder=str(stage.folder), fault=str(fault))
            return
        self._sweep.begin()

    async def _whole(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Cancelling waits until it is over: a thread cannot be stopped."""
        task = self._task(work)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            while not task.done():
                await asyncio.wait({task})
            if not task.cancelled():
                task.exception()  # it is of no interest any more
            raise

    def _task(self, work: Coroutine[Any, Any, _T]) -> asyncio.Task[_T]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _overlap(one: str, other: str) -> bool:
    return within(one, other) or within(other, one)
