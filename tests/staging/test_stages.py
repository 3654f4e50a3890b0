"""What always holds of stages, by the number of the rule."""

import asyncio
import gc
import mmap
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from paste_proxy.clock import FakeClock
from paste_proxy.staging import journal
from paste_proxy.staging.base import recover
from paste_proxy.staging.marks import prefix_of
from paste_proxy.staging.operations import Operation
from paste_proxy.staging.stage import Stage, State, Unfinished
from paste_proxy.staging.stages import Stages
from paste_proxy.staging.types import Refused, Tier
from tests.staging.runs import PROGRAM
from tests.staging.trees import plant, told
from tests.staging.workplace import BOUNDS, begun, opened, staged, until

CHANGE = "echo more >>file; rm gone; mkdir -p new/er; echo x >new/er/x; echo said"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    for name in ("file", "gone", "other"):
        (folder / name).write_text(f"{name}\n")
    (folder / "sub").mkdir()
    (folder / "sub" / "inner").write_text("inner\n")
    return folder


def changed(workspace: Path) -> bool:
    return (workspace / "file").read_text() == "file\nmore\n" and not (workspace / "gone").exists()


class Gate:
    """Holds a step of a stage until it is opened."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
        self.reached, self._open = asyncio.Event(), threading.Event()
        loop, real = asyncio.get_running_loop(), getattr(Stage, step)

        def held(stage: Stage, *given: object) -> object:
            loop.call_soon_threadsafe(self.reached.set)
            assert self._open.wait(30)
            return real(stage, *given)

        monkeypatch.setattr(Stage, step, held)

    def open(self) -> None:
        self._open.set()


async def test_a_staged_command_does_what_it_would_have_done(tmp_path: Path, workspace: Path) -> None:
    async with opened(tmp_path) as stages:
        asked = staged(workspace, CHANGE + "; exit 3")
        ran = await stages.commit(await stages.stage(asked), asked)
        assert ran is not None
        assert (ran.output, ran.exit_code) == (b"said\n", 3)
        assert changed(workspace)
        assert (workspace / "new" / "er" / "x").read_text() == "x\n"


async def test_i1_before_its_commit_is_decided_the_real_tree_is_as_it_was(tmp_path: Path, workspace: Path) -> None:
    before = told(workspace)
    async with opened(tmp_path) as stages:
        stage = await stages.stage(staged(workspace, CHANGE))
        await asyncio.to_thread(stage.prove)
        assert told(workspace) == before
        stages.discard(stage, "not wanted")
    assert told(workspace) == before


async def test_i1_a_commit_that_could_not_be_decided_leaves_it_as_it_was(
    tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    before = told(workspace)
    async with opened(tmp_path) as stages:
        asked = staged(workspace, CHANGE)
        stage = await stages.stage(asked)
        monkeypatch.setattr(journal, "decide", full)
        assert await stages.commit(stage, asked) is None
        assert stage.state is State.DISCARDED
        assert stage.reason.startswith("it could not be decided")
        assert told(workspace) == before


async def test_i2_one_that_was_carried_out_in_part_is_finished_and_never_taken_back(
    tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    carry_out = journal.carry_out

    def only_the_first(folder: Path, planned: Sequence[Operation]) -> int:
        carry_out(folder, planned[:1])
        raise OSError(28, "No space left on device")

    async with opened(tmp_path, bounds=replace(BOUNDS, sweep_s=0)) as stages:
        asked = staged(workspace, CHANGE)
        stage = await stages.stage(asked)
        with monkeypatch.context() as patch:
            patch.setattr(journal, "carry_out", only_the_first)
            with pytest.raises(Unfinished):
                await stages.commit(stage, asked)
        assert not changed(workspace)
        stages.discard(stage, "too late")
        assert stage.state is State.COMMITTING
        with pytest.raises(Refused, match="an earlier commit is not finished"):
            await stages.stage(asked)
        await stages.close()
        assert (await asyncio.to_thread(recover, tmp_path / "base")).committed == 1
    assert changed(workspace)


async def test_i2_once_decided_it_goes_forward_only(
    tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path) as stages:
        asked = staged(workspace, CHANGE)
        stage = await stages.stage(asked)
        gate = Gate(monkeypatch, "commit")
        commit = asyncio.create_task(stages.commit(stage, asked))
        await gate.reached.wait()
        stages.discard(stage, "too late")
        stages.void(str(workspace), "too late")
        commit.cancel()
        await asyncio.sleep(0)
        gate.open()
        with pytest.raises(asyncio.CancelledError):
            await commit
        assert stage.state is State.COMMITTED
        assert changed(workspace)


async def test_i3_it_is_adopted_once(tmp_path: Path, workspace: Path) -> None:
    async with opened(tmp_path) as stages:
        asked = staged(workspace, CHANGE)
        stage = await stages.stage(asked)
        came = await asyncio.gather(*(stages.commit(stage, asked) for _ in range(3)))
        assert [ran is not None for ran in came] == [True, False, False]
        assert changed(workspace)


async def test_i3_it_is_adopted_for_the_same_command_only(tmp_path: Path, workspace: Path) -> None:
    before = told(workspace)
    asked = staged(workspace, CHANGE)
    others = (
        replace(asked, argv=("/bin/sh", "-c", "echo")),
        replace(asked, cwd="/"),
        replace(asked, env=(("PATH", "/bin"),)),
        replace(asked, umask=0o077),
        replace(asked, timeout_s=31.0),
        replace(asked, workspace="/elsewhere"),
    )
    async with opened(tmp_path) as stages:
        for other in others:
            stage = await stages.stage(asked)
            assert await stages.commit(stage, other) is None, other
            assert await stages.commit(stage, asked) is None, other
            assert told(workspace) == before, other


async def test_i3_it_is_not_adopted_when_it_is_too_old(tmp_path: Path, workspace: Path) -> None:
    clock, before = FakeClock(), told(workspace)
    async with opened(tmp_path, clock=clock) as stages:
        asked = staged(workspace, CHANGE)
        stage = await stages.stage(asked)
        clock.advance(BOUNDS.age_s + 1)
        assert await stages.commit(stage, asked) is None
        assert stage.reason == "it is too old"
        assert told(workspace) == before


async def test_a_stage_that_nobody_asks_for_ends_by_itself(tmp_path: Path, workspace: Path) -> None:
    async with opened(tmp_path, bounds=replace(BOUNDS, age_s=0.001)) as stages:
        stage = await stages.stage(staged(workspace, CHANGE))
        await until(lambda: stage.state is State.DISCARDED)


def _same_size(workspace: Path) -> None:
    path = workspace / "other"
    was = path.stat()
    path.write_text("OTHER\n")
    os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))


def _come_and_gone(workspace: Path) -> None:
    (workspace / "sub" / "short").touch()
    (workspace / "sub" / "short").unlink()


def _mapped(workspace: Path) -> None:
    with (workspace / "other").open("r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
        memory[0] = 77


EDITS: dict[str, Callable[[Path], object]] = {
    "append": lambda workspace: (workspace / "other").write_text("other\nmore"),
    "same size and times": _same_size,
    "create": lambda workspace: (workspace / "sub" / "created").touch(),
    "create and delete": _come_and_gone,
    "delete": lambda workspace: (workspace / "sub" / "created").unlink(),
    "mode": lambda workspace: (workspace / "sub").chmod(0o700),
    "touch the root": os.utime,
    "store to a mapping": _mapped,
    "rename": lambda workspace: (workspace / "sub").rename(workspace / "bus"),
    "what it changed": lambda workspace: (workspace / "file").write_text("theirs"),
    "what it removed": lambda workspace: (workspace / "gone").unlink(),
    "what it made": lambda workspace: (workspace / "new").mkdir(),
}


async def test_i4_any_change_since_its_start_refuses_it(tmp_path: Path, workspace: Path) -> None:
    async with opened(tmp_path) as stages:
        asked = staged(workspace, "echo more >>file; rm -f gone; mkdir -p new")
        for name, edit in EDITS.items():
            stage = await stages.stage(asked)
            edit(workspace)
            after = told(workspace)
            assert await stages.commit(stage, asked) is None, name
            assert stage.reason.endswith(("has changed", "has come")), name
            assert told(workspace) == after, name


async def test_i4_a_store_to_a_page_that_was_mapped_and_dirty_before_refuses_it(
    tmp_path: Path, workspace: Path
) -> None:
    async with opened(tmp_path) as stages:
        asked = staged(workspace, CHANGE)
        with (workspace / "other").open("r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
            memory[0] = 76
            stage = await stages.stage(asked)
            memory[1] = 77
            assert await stages.commit(stage, asked) is None
        assert stage.reason.endswith(("has changed", "has come"))


async def test_i4_a_change_while_it_runs_refuses_it(tmp_path: Path, workspace: Path) -> None:
    async with opened(tmp_path) as stages:
        asked = staged(workspace, "echo >began; sleep 0.3; " + CHANGE)
        run = asyncio.create_task(stages.stage(asked))
        await until(lambda: begun(tmp_path, "began"))
        (workspace / "other").write_text("theirs")
        assert await stages.commit(await run, asked) is None
        assert (workspace / "other").read_text() == "theirs"
        assert not changed(workspace)


async def test_i4_a_change_right_before_its_start_does_not(tmp_path: Path, workspace: Path) -> None:
    async with opened(tmp_path) as stages:
        asked = staged(workspace, "cat other")
        for number in range(3):
            (workspace / "other").write_text(f"{number}")
            ran = await stages.commit(await stages.stage(asked), asked)
            assert ran is not None
            assert ran.output == f"{number}".encode()


async def test_i4_a_change_outside_of_what_it_looked_at_refuses_it(tmp_path: Path, workspace: Path) -> None:
    settings = tmp_path / "settings"
    settings.write_text("one")
    async with opened(tmp_path) as stages:
        asked = staged(workspace, f"cat {settings} >>file; cat {tmp_path}/none; true")
        for edit in (lambda: settings.write_text("two"), (tmp_path / "none").touch):
            stage = await stages.stage(asked)
            edit()
            assert await stages.commit(stage, asked) is None
            assert stage.reason.endswith(("has changed", "has come"))
        assert (workspace / "file").read_text() == "file\n"


async def test_what_lies_now_where_something_is_moved_to_is_not_waited_for(tmp_path: Path, workspace: Path) -> None:
    (workspace / "there").mkdir()
    os.mkfifo(workspace / "there" / "inner")
    async with opened(tmp_path) as stages:
        if stages.tier is Tier.USER:
            pytest.skip("directories are not moved there")
        asked = staged(workspace, "mv there gone-there; mv sub there; echo more >>there/inner")
        assert await stages.commit(await stages.stage(asked), asked) is not None
        assert (workspace / "there" / "inner").read_text() == "inner\nmore\n"


async def test_i5_what_cannot_be_shown_or_kept_is_refused(tmp_path: Path, workspace: Path) -> None:
    before = told(workspace)
    async with opened(tmp_path) as stages:
        for command in ("sleep 60 & echo", "cat /dev/zero", "sleep 9"):
            with pytest.raises(Refused):
                await stages.stage(staged(workspace, f"echo >>file; {command}", timeout_s=0.7))
            assert told(workspace) == before, command


ESCAPES = {
    "a way out": f"{PROGRAM} -c 'import socket; socket.socket().connect((\"192.0.2.1\", 80))'",
    "a device": "cat /dev/kmsg; true",
    "another's process": "kill -0 99999; true",
    "a limit": "ulimit -f 1; head -c 9999 /dev/zero >big; true",
    "a process left behind": "(setsid sleep 60 >/dev/null 2>&1 &)",
    "memory left behind": "echo >/dev/shm/left-by-a-test",
    "tracing": "strace -o /dev/null true; true",
    "a border": "mv file /dev/shm/moved; true",
    "another order": "touch new; find .",
}


@pytest.mark.parametrize("command", ESCAPES.values(), ids=ESCAPES)
async def test_i5_one_that_came_upon_the_walls_of_its_view_is_never_adopted(
    tmp_path: Path, workspace: Path, command: str
) -> None:
    before = told(workspace)
    async with opened(tmp_path) as stages:
        with pytest.raises(Refused):
            await stages.stage(staged(workspace, f"echo more >>file; {command}"))
        assert stages.tally.committed == 0
    assert told(workspace) == before


async def test_i5_an_unknown_mark_is_refused(tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = told(workspace)
    async with opened(tmp_path) as stages:
        gate = Gate(monkeypatch, "read")
        run = asyncio.create_task(stages.stage(staged(workspace, CHANGE)))
        await gate.reached.wait()
        await asyncio.to_thread(_mark, tmp_path, f"{prefix_of(stages.tier)}of-a-later-kernel")
        gate.open()
        with pytest.raises(Refused, match="marked 'of-a-later-kernel'"):
            await run
    assert told(workspace) == before


def _mark(tmp_path: Path, name: str) -> None:
    (upper,) = (tmp_path / "base").glob("process-*/stage-*/upper*/**/workspace/new")
    os.setxattr(upper, name, b"y")


async def test_i5_an_effect_where_none_is_permitted_is_refused(tmp_path: Path, workspace: Path) -> None:
    async with opened(tmp_path) as stages:
        with pytest.raises(Refused, match="it changed"):
            await stages.stage(staged(workspace, f"echo >>file; echo >{tmp_path}/outside"))
        assert not (tmp_path / "outside").exists()
    assert (workspace / "file").read_text() == "file\n"


async def test_an_effect_outside_is_committed_where_it_is_permitted(tmp_path: Path, workspace: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "old").write_text("old")
    async with opened(tmp_path, outside=(str(cache),)) as stages:
        asked = staged(workspace, f"cd {cache}; echo new >new; echo >>old; mkdir -p a/b; echo x >a/b/x")
        assert await stages.commit(await stages.stage(asked), asked) is not None
        assert {path.name for path in cache.rglob("*")} == {"old", "new", "a", "b", "x"}
        assert (cache / "old").read_text() == "old\n"


async def test_the_folder_of_stages_is_no_permitted_place(tmp_path: Path, workspace: Path) -> None:
    async with opened(tmp_path, outside=(str(tmp_path),)) as stages:
        with pytest.raises(Refused, match="where stages lie"):
            await stages.stage(staged(workspace, f"rm -rf {tmp_path}/base"))


async def test_i6_one_commit_at_a_time(tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    second_workspace = tmp_path / "second"
    plant(second_workspace, 1)
    async with opened(tmp_path) as stages:
        one, two = staged(workspace, CHANGE), staged(second_workspace, "echo >new-file")
        first, second = await stages.stage(one), await stages.stage(two)
        gate = Gate(monkeypatch, "commit")
        first_commit, second_commit = (
            asyncio.create_task(stages.commit(stage, asked)) for stage, asked in ((first, one), (second, two))
        )
        await gate.reached.wait()
        assert (first.state, second.state) == (State.COMMITTING, State.READY)
        gate.open()
        assert await first_commit is not None
        assert await second_commit is not None


async def test_i6_a_commit_ends_other_stages_of_the_workspace(tmp_path: Path, workspace: Path) -> None:
    async with opened(tmp_path) as stages:
        one, inner = staged(workspace, CHANGE), staged(workspace / "sub", "cat inner")
        first, same, within = await stages.stage(one), await stages.stage(one), await stages.stage(inner)
        assert await stages.commit(first, one) is not None
        assert (same.state, within.state) == (State.DISCARDED, State.DISCARDED)
        assert await stages.commit(same, one) is None


async def test_i6_a_commit_that_changes_nothing_leaves_the_others(tmp_path: Path, workspace: Path) -> None:
    async with opened(tmp_path) as stages:
        asked = staged(workspace, "cat file")
        first, second = await stages.stage(asked), await stages.stage(asked)
        assert await stages.commit(first, asked) is not None
        assert await stages.commit(second, asked) is not None


async def test_i6_a_tools_write_ends_stages_of_the_workspace_and_waits_for_its_commit(
    tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path) as stages:
        asked = staged(workspace, CHANGE)
        ready = await stages.stage(asked)
        running = asyncio.create_task(stages.stage(staged(workspace, "sleep 20")))
        await asyncio.sleep(0)
        async with stages.writing(str(workspace)):
            assert ready.state is State.DISCARDED
            with pytest.raises(Refused, match="a tool began to write"):
                await running
        committed = await stages.stage(asked)
        gate = Gate(monkeypatch, "commit")
        commit = asyncio.create_task(stages.commit(committed, asked))
        await gate.reached.wait()
        write = asyncio.create_task(_write(stages, workspace))
        await asyncio.sleep(0)
        gate.open()
        assert await commit is not None
        await write
        assert (workspace / "file").read_text() == "theirs"


async def _write(stages: Stages, workspace: Path) -> None:
    async with stages.writing(str(workspace)):
        (workspace / "file").write_text("theirs")


async def test_i7_no_stage_starts_while_a_tool_writes(tmp_path: Path, workspace: Path) -> None:
    async with opened(tmp_path) as stages:
        async with stages.writing(str(workspace)), stages.writing(str(workspace)):
            with pytest.raises(Refused, match="a tool is writing"):
                await stages.stage(staged(workspace / "sub", "true"))
        await stages.stage(staged(workspace, "true"))


async def test_i8_its_answer_is_handed_out_after_its_effects(
    tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path) as stages:
        asked = staged(workspace, CHANGE)
        stage = await stages.stage(asked)
        gate = Gate(monkeypatch, "commit")
        commit = asyncio.create_task(stages.commit(stage, asked))
        await gate.reached.wait()
        for _ in range(10):
            await asyncio.sleep(0)
        assert not commit.done()
        gate.open()
        ran = await commit
        assert ran is not None
        assert changed(workspace)
        assert ran.output == b"said\n"


async def test_i8_no_answer_is_handed_out_if_its_effects_could_not_happen(
    tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path) as stages:
        asked = staged(workspace, CHANGE)
        stage = await stages.stage(asked)
        (workspace / "other").write_text("theirs")
        assert await stages.commit(stage, asked) is None
        assert stages.tally.committed == 0


async def test_a_commit_that_cannot_be_decided_has_not_happened(
    tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = told(workspace)
    async with opened(tmp_path) as stages:
        asked = staged(workspace, CHANGE)
        stage = await stages.stage(asked)
        (stage.folder / "journal.part").unlink()
        assert await stages.commit(stage, asked) is None
        assert stage.state is State.DISCARDED
        assert told(workspace) == before


async def test_no_more_than_so_many_at_once(tmp_path: Path, workspace: Path) -> None:
    async with opened(tmp_path, bounds=replace(BOUNDS, stages=1)) as stages:
        asked = staged(workspace, "true")
        stage = await stages.stage(asked)
        with pytest.raises(Refused, match="enough"):
            await stages.stage(asked)
        stages.discard(stage, "not wanted")
        await stages.stage(asked)


async def test_what_was_cancelled_while_its_effects_were_read_is_not_complained_of(
    tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    complaints: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, told: complaints.append(told))
    reading = Gate(monkeypatch, "read")
    async with opened(tmp_path) as stages:
        run = asyncio.create_task(stages.stage(staged(workspace, "echo > /dev/shm/paste-proxy-of-a-test")))
        await reading.reached.wait()
        run.cancel()
        reading.open()
        await asyncio.wait({run})
    del run
    gc.collect()
    assert complaints == []


async def test_cancelling_a_stage_leaves_nothing_of_it(tmp_path: Path, workspace: Path) -> None:
    before = told(workspace)
    async with opened(tmp_path) as stages:
        for _ in range(2):
            run = asyncio.create_task(stages.stage(staged(workspace, "echo >>file; sleep 20")))
            await until(lambda: begun(tmp_path, "file"))
            run.cancel()
            with pytest.raises(asyncio.CancelledError):
                await run
        early = asyncio.create_task(stages.stage(staged(workspace, "true")))
        await asyncio.sleep(0)
        early.cancel()
        with pytest.raises(asyncio.CancelledError):
            await early
    assert told(workspace) == before


async def test_closing_ends_what_runs_and_refuses_what_comes(tmp_path: Path, workspace: Path) -> None:
    async with opened(tmp_path) as stages:
        ready = await stages.stage(staged(workspace, CHANGE))
        running = asyncio.create_task(stages.stage(staged(workspace, "sleep 20")))
        await asyncio.sleep(0)
        await stages.close()
        with pytest.raises(Refused, match="closed"):
            await running
        with pytest.raises(Refused, match="closed"):
            await stages.stage(staged(workspace, "true"))
        assert await stages.commit(ready, staged(workspace, CHANGE)) is None
