"""Commands run as they are."""

import asyncio
import os
from dataclasses import replace
from pathlib import Path

import pytest

from paste_proxy.staging.normal import run
from tests.staging.runs import OUTPUT_BYTES, found, processes_with
from tests.staging.workplace import staged


async def test_its_output_and_exit_code(place: Path) -> None:
    ran = await run(staged(place, "echo out; echo err >&2; echo more >>file; exit 3"), output_bytes=OUTPUT_BYTES)
    assert (ran.output, ran.exit_code, ran.poisons, ran.looked_at) == (b"out\nerr\n", 3, (), frozenset())
    assert await asyncio.to_thread((place / "file").read_text) == "file\nmore\n"


async def test_a_signal_that_ended_it(place: Path) -> None:
    assert (await run(staged(place, "kill -TERM $$"), output_bytes=OUTPUT_BYTES)).exit_code == -15


async def test_all_that_it_wrote_is_there_however_much(place: Path) -> None:
    ran = await run(staged(place, "head -c 1000000 /dev/zero"), output_bytes=OUTPUT_BYTES)
    assert ran.output == bytes(1_000_000)


async def test_a_background_process_stays_and_is_not_waited_for(place: Path) -> None:
    ran = await run(staged(place, "sleep 71.25 & echo started"), output_bytes=OUTPUT_BYTES)
    assert (ran.output, ran.poisons) == (b"started\n", ())
    (left,) = await asyncio.to_thread(processes_with, "71.25")
    os.kill(left, 9)


async def test_at_its_timeout_its_group_is_killed(place: Path) -> None:
    ran = await run(staged(place, "echo said; sleep 72.25 & sleep 72.25", timeout_s=0.3), output_bytes=OUTPUT_BYTES)
    assert (ran.output, ran.exit_code, ran.poisons) == (b"said\n", -9, ("it was not done within 0.3 s",))
    await found(lambda: not processes_with("72.25"))


async def test_one_that_writes_without_end_is_killed(place: Path) -> None:
    ran = await run(staged(place, "yes"), output_bytes=1000)
    assert (len(ran.output), ran.poisons) == (1000, ("it wrote more than is kept",))


async def test_cancelling_kills_its_group(place: Path) -> None:
    task = asyncio.create_task(run(staged(place, "sleep 73.25 & sleep 73.25"), output_bytes=OUTPUT_BYTES))
    await found(lambda: len(processes_with("73.25")) >= 2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await found(lambda: not processes_with("73.25"))


async def test_its_umask_and_directory_are_what_was_asked_for(place: Path) -> None:
    asked = replace(staged(place, "umask; pwd"), umask=0o077, cwd=str(place / "sub"))
    assert (await run(asked, output_bytes=OUTPUT_BYTES)).output == f"0077\n{place}/sub\n".encode()


async def test_a_program_that_is_not_there_cannot_be_started(place: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await run(replace(staged(place, "true"), argv=("/no/such/program",)), output_bytes=OUTPUT_BYTES)
