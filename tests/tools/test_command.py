"""Programs as tools."""

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from paste_proxy.errors import UpstreamFault
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status, ToolResult
from paste_proxy.tools.command import CommandBackend

SOON = 10.0


async def run(code: str, arguments: dict[str, object] | None = None, **bounds: float) -> ToolResult:
    backend = CommandBackend(
        (sys.executable, "-c", code),
        timeout_s=bounds.get("timeout_s", SOON),
        output_bytes=int(bounds.get("output_bytes", 2**20)),
    )
    return await backend.run(Invocation("tool", json.loads(json.dumps(arguments or {}))), speculative=False)


async def test_arguments_arrive_on_stdin_and_stdout_is_the_result() -> None:
    big = 2**70
    result = await run("import sys; sys.stdout.write(sys.stdin.read())", {"n": big, "text": "\u2028é"})
    assert result.status is Status.OK
    assert result.value() == {"n": big, "text": "\u2028é"}
    assert result.content_type == "application/json"


async def test_text_is_passed_as_text() -> None:
    result = await run("print('a b')")
    assert (result.body, result.content_type) == (b"a b\n", "text/plain; charset=utf-8")


@pytest.mark.parametrize(
    ("code", "body"),
    [
        ("import sys; print('told'); sys.stderr.write('log'); sys.exit(3)", b"told\n"),
        ("import sys; sys.stderr.write('x' * 9000 + 'why'); sys.exit(1)", b"x" * 4093 + b"why"),
        ("import os; os.abort()", b""),
    ],
)
async def test_a_failing_program_is_the_tools_own_error(code: str, body: bytes) -> None:
    result = await run(code)
    assert (result.status, result.body) == (Status.ERROR, body)


async def test_a_program_that_ignores_its_stdin_is_fine() -> None:
    result = await run("import os; os.close(0); print(1)", {"text": "x" * 2**20})
    assert result.value() == 1


async def test_a_program_that_cannot_be_started_is_named() -> None:
    backend = CommandBackend(("/no/such/program",), timeout_s=SOON)
    with pytest.raises(UpstreamFault, match="/no/such/program cannot be started"):
        await backend.run(Invocation("tool", {}), speculative=False)


async def test_a_program_that_takes_too_long_is_stopped() -> None:
    with pytest.raises(UpstreamFault, match=r"within 0\.2 s"):
        await run("import time; time.sleep(60)", timeout_s=0.2)


async def test_a_program_that_writes_without_end_is_stopped() -> None:
    with pytest.raises(UpstreamFault, match="more than 1000 bytes"):
        await run("while True: print('x' * 100)", output_bytes=1000)


async def test_cancelling_kills_the_whole_group(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    os.mkfifo(pids)
    code = (
        "import os, subprocess, sys, time; child = subprocess.Popen(['sleep', '60']); "
        f"open({str(pids)!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}'); time.sleep(60)"
    )
    task = asyncio.create_task(run(code))
    group, child = (int(pid) for pid in (await asyncio.to_thread(pids.read_text)).split())
    assert os.getpgid(child) == group
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with asyncio.timeout(SOON):
        while {state(group), state(child)} - {None, "Z"}:  # noqa: ASYNC110  the kernel tells nobody
            await asyncio.sleep(0)


def state(pid: int) -> str | None:
    """The kernel's state letter of a process; None if there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return None
