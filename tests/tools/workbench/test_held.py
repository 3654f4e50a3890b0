"""A command that is run ahead: nothing of it happens before it is asked for, and then all."""

import asyncio
import errno
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from paste_proxy.errors import UpstreamFault
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status
from paste_proxy.staging import journal
from paste_proxy.staging.base import recover
from paste_proxy.staging.journal import carry_out
from paste_proxy.staging.operations import Operation
from paste_proxy.tools.backend import PartDone, Staging
from tests.staging.workplace import opened
from tests.tools.workbench.bench import Bench, text

CHANGE = "echo more >> f; mkdir -p x; echo made > x/y; echo said; cat f; exit 3"


@asynccontextmanager
async def staging(tmp_path: Path) -> AsyncIterator[Bench]:
    root = tmp_path / "work"
    root.mkdir()
    (root / "f").write_text("one\n")
    async with opened(tmp_path) as stages:
        yield Bench(root, stages=stages)


def run(command: str, **more: object) -> Invocation:
    return Invocation("workbench/run", {"command": command, **more})  # type: ignore[dict-item]


async def test_it_is_held_back_and_then_is_as_if_it_had_been_run(tmp_path: Path) -> None:
    async with staging(tmp_path) as bench:
        assert isinstance(bench.workbench, Staging)
        assert bench.workbench.stages(run(CHANGE))
        held = await bench.workbench.stage(run(CHANGE), asyncio.Event())
        assert (bench.root / "f").read_text() == "one\n"
        assert not (bench.root / "x").exists()
        assert text(held.result) == "[exit 3]\nsaid\none\nmore\n"
        assert await held.commit()
        assert (bench.root / "f").read_text() == "one\nmore\n"
        assert (bench.root / "x" / "y").read_text() == "made\n"
        await held.discard()
        assert text(await bench.result("run", command=CHANGE)) == "[exit 3]\nsaid\none\nmore\nmore\n"


async def test_of_one_that_happens_in_part_the_agent_is_told_and_it_is_not_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def first_only(folder: Path, planned: Sequence[Operation]) -> int:
        carry_out(folder, planned[:1])
        raise OSError(errno.EIO, "Input/output error")

    async with staging(tmp_path) as bench:
        held = await bench.workbench.stage(run(CHANGE), asyncio.Event())
        with monkeypatch.context() as broken:
            broken.setattr(journal, "carry_out", first_only)
            with pytest.raises(PartDone) as fault:
                await held.commit()
        told = fault.value.told
        assert told.status is Status.ERROR
        assert "Input/output error. Do not run it again" in text(told)
        assert text(told).endswith("]\nsaid\none\nmore\n")
        assert not await held.commit()
        with pytest.raises(UpstreamFault, match="an earlier commit is not finished"):
            await bench.workbench.stage(run(CHANGE), asyncio.Event())
        assert bench.workbench._stages is not None
        await bench.workbench._stages.close()
        assert (await asyncio.to_thread(recover, tmp_path / "base")).committed == 1
        assert (bench.root / "f").read_text() == "one\nmore\n"
        assert (bench.root / "x" / "y").read_text() == "made\n"


async def test_one_that_is_let_go_leaves_nothing(tmp_path: Path) -> None:
    async with staging(tmp_path) as bench:
        held = await bench.workbench.stage(run(CHANGE), asyncio.Event())
        await held.discard()
        assert not await held.commit()
        assert (bench.root / "f").read_text() == "one\n"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("edit", {"path": "f", "old_text": "one", "new_text": "eins"}),
        ("write", {"path": "g", "content": "x"}),
        ("run", {"command": "true"}),
    ],
)
async def test_what_changes_the_workspace_meanwhile_makes_it_void(
    tmp_path: Path, tool: str, arguments: dict[str, str]
) -> None:
    async with staging(tmp_path) as bench:
        held = await bench.workbench.stage(run(CHANGE), asyncio.Event())
        await bench.ask(tool, **arguments)
        assert not await held.commit()
        assert not (bench.root / "x").exists()


async def test_what_only_reads_leaves_it_standing(tmp_path: Path) -> None:
    async with staging(tmp_path) as bench:
        held = await bench.workbench.stage(run(CHANGE), asyncio.Event())
        await bench.ask("run", command="cat f | head -n 1")
        assert await held.commit()


async def test_what_cannot_be_run_at_all_is_not_staged(tmp_path: Path) -> None:
    async with staging(tmp_path) as bench:
        for asked in (run("pwd", cwd=".."), run(""), Invocation("workbench/run", {})):
            with pytest.raises(UpstreamFault, match="no such command"):
                await bench.workbench.stage(asked, asyncio.Event())
        with pytest.raises(UpstreamFault, match="cannot be run ahead"):
            await bench.workbench.stage(run("sleep 9", timeout=0.2), asyncio.Event())


async def test_only_commands_are_staged_and_only_where_that_is_possible(tmp_path: Path) -> None:
    async with staging(tmp_path) as bench:
        assert not bench.workbench.stages(Invocation("workbench/write", {"path": "a", "content": "b"}))
    assert not bench.workbench.stages(run(CHANGE))
    assert not Bench(tmp_path).workbench.stages(run(CHANGE))
