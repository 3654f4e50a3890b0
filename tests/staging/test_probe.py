"""Which means of staging a machine has."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from paste_proxy.staging import probe as probing
from paste_proxy.staging import view
from paste_proxy.staging.forks import Forks
from paste_proxy.staging.probe import probe
from paste_proxy.staging.types import Tier


@pytest.fixture
async def forks() -> AsyncIterator[Forks]:
    forks = Forks()
    yield forks
    await forks.close()


async def test_it_says_what_there_is_or_why_not_and_leaves_nothing(tmp_path: Path, forks: Forks) -> None:
    tier, reason = await probe(str(tmp_path), forks)
    assert tier is (Tier.ROOT if os.geteuid() == 0 else Tier.USER) or (tier is Tier.NONE and reason)
    assert bool(reason) == (tier is Tier.NONE)
    assert await asyncio.to_thread(os.listdir, tmp_path) == []


async def test_without_a_tracer_there_is_none(tmp_path: Path, forks: Forks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert await probe(str(tmp_path), forks) == (Tier.NONE, "strace is not installed")
    assert await asyncio.to_thread(os.listdir, tmp_path) == []


async def test_where_nothing_can_be_written_there_is_none(tmp_path: Path, forks: Forks) -> None:
    tier, reason = await probe(str(tmp_path / "missing"), forks)
    assert tier is Tier.NONE
    assert "cannot be used" in reason


async def test_where_no_overlay_can_be_mounted_there_is_none(
    tmp_path: Path, forks: Forks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view, "_OPTIONS", dict.fromkeys(Tier, "nonesuch=on"))
    tier, reason = await probe(str(tmp_path), forks)
    assert tier is Tier.NONE
    assert "mount overlay" in reason or "strace" in reason or "unshare" in reason
    assert await asyncio.to_thread(os.listdir, tmp_path) == []


async def test_a_view_that_does_not_show_what_is_done_in_it_is_none(
    tmp_path: Path, forks: Forks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probing, "_SHOWS", b"something else")
    tier, reason = await probe(str(tmp_path), forks)
    assert tier is Tier.NONE
    assert reason
    assert await asyncio.to_thread(os.listdir, tmp_path) == []
