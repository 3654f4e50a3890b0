"""When a sidecar has stages, and what a doctor says of them."""

import asyncio
import os
from pathlib import Path

import pytest

from paste_proxy.clock import SystemClock
from paste_proxy.config import Config, McpServer, Speculating, Staging
from paste_proxy.proxy.checkup import check_files
from paste_proxy.proxy.finding import Level
from paste_proxy.proxy.named_files import read_policy
from paste_proxy.proxy.staging import stages_of
from paste_proxy.proxy.staging_checkup import check_staging
from paste_proxy.speculation.policy import combine
from paste_proxy.speculation.types import Mode
from paste_proxy.staging.base import Claim
from paste_proxy.staging.journal import decide, prepare
from paste_proxy.staging.operations import Mkdir
from paste_proxy.staging.types import Tier

POLICIES = ("builtin:staging", "builtin:workbench")


def config(
    folder: Path,
    *policies: str,
    mode: Mode = Mode.SPECULATE,
    enabled: bool = True,
    read_only: bool = False,
    stateless: bool = True,
) -> Config:
    return Config(
        mcp={"workbench": McpServer(workbench=folder, read_only=read_only, stateless=stateless)},
        policies=policies,
        speculation=Speculating(mode=mode),
        staging=Staging(enabled=enabled, directory=folder.parent / "base"),
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def test_there_are_stages_where_a_rule_says_so_and_nowhere_else(folder: Path) -> None:
    def made(asked: Config) -> bool:
        return stages_of(asked, combine(map(read_policy, asked.policies)), SystemClock()) is not None

    assert made(config(folder, *POLICIES))
    assert made(config(folder, *POLICIES, mode=Mode.OBSERVE))
    assert not made(config(folder, "builtin:workbench"))
    assert not made(config(folder, *POLICIES, mode=Mode.OFF))
    assert not made(config(folder, *POLICIES, enabled=False))
    assert not made(config(folder, *POLICIES, read_only=True))
    assert not made(config(folder, *POLICIES, stateless=False))
    assert not (folder.parent / "base").exists()


def leave_behind(folder: Path, base: Path) -> None:
    """What a process that was killed leaves: a commit that was decided, and a stage."""
    claim = Claim(base)
    for name in ("decided", "undecided"):
        (claim.folder / name).mkdir()
        prepare(claim.folder / name, [Mkdir(str(folder / name))])
    decide(claim.folder / "decided")
    claim.release(keep=True)


async def test_a_doctor_tells_what_the_machine_can_and_finishes_what_was_left(folder: Path) -> None:
    base = folder.parent / "base"
    await asyncio.to_thread(leave_behind, folder, base)
    (finding,) = await check_staging(config(folder, *POLICIES), load=0)
    assert finding.level in (Level.OK, Level.WARN)
    assert f"stages lie in {base}; finished 1 commit of a process that is gone; cleared away 1 stage" in finding.found
    assert (folder / "decided").is_dir()
    assert not (folder / "undecided").exists()


async def test_a_machine_without_views_is_a_warning_with_its_reason(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def none(base: str, forks: object) -> tuple[Tier, str]:
        return Tier.NONE, "strace is not installed"

    monkeypatch.setattr("paste_proxy.staging.stages.probe", none)
    (finding,) = await check_staging(config(folder, *POLICIES), load=0)
    assert (finding.level, finding.found.partition(";")[0]) == (
        Level.WARN,
        "not on this machine: strace is not installed",
    )
    assert await check_staging(config(folder, "builtin:workbench")) == []


async def test_a_machine_without_idle_cores_is_a_warning(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def able(base: str, forks: object) -> tuple[Tier, str]:
        return Tier.ROOT, ""

    monkeypatch.setattr("paste_proxy.staging.stages.probe", able)
    cores = len(os.sched_getaffinity(0))
    (_,) = await check_staging(config(folder, *POLICIES), load=cores)
    _, finding = await check_staging(config(folder, *POLICIES), load=cores + 0.5)
    assert finding.level is Level.WARN
    assert f"the load of the last minutes, {cores + 0.5}, is more than {cores} core" in finding.found


@pytest.mark.parametrize("turned", [False, True])
def test_policies_of_which_nothing_is_ever_staged_are_a_warning(folder: Path, turned: bool) -> None:
    policies = ("builtin:workbench", "builtin:staging") if turned else ("builtin:staging", "builtin:workbench")
    said = [
        finding.found
        for finding in check_files(config(folder, *policies))
        if finding.level is Level.WARN and finding.what == "policies"
    ]
    hidden = "builtin:staging: rule 3 stages nothing, since builtin:workbench: rule 7 takes all its calls"
    assert any(words.startswith(hidden) for words in said) is turned
