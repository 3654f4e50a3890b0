"""A command that is run ahead: nothing of it happens before it is asked for, and then all."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from paste_proxy.errors import UpstreamFault
from paste_proxy.events.invocation import Invocation
from paste_proxy.tools.backend import Staging
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
