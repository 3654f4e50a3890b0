"""What is run ahead ends with the sidecar, even with one that is killed; what an agent has left running does not."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from paste_proxy.tools.workbench.survivors import Survivors
from paste_proxy.tools.workbench.survivors_process import left
from tests.staging.runs import found, processes_with
from tests.tools.workbench.test_aside import is_quiet

FOREVER = "(x+x+)+y"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody watches")


class Sidecar:
    """One for the tools of a folder, which runs a call ahead when something was written there."""

    def __init__(self, place: Path, tool: str, **arguments: str) -> None:
        (place / "work").mkdir()
        given = "".join(
            f"arguments.{name} = {{ constant = {json.dumps(value)} }}\n" for name, value in arguments.items()
        )
        pattern = f'[[pattern]]\nid = "p"\ntool = "workbench/{tool}"\nafter = "ok workbench/write"\nconfidence = 0.9\n'
        (place / "pattern.toml").write_text(pattern + given)
        (place / "paste.toml").write_text(
            'patterns = ["pattern.toml"]\n[speculation]\nmode = "speculate"\n'
            "[learning]\nenabled = false\ngeneral = false\n"
        )
        command = (sys.executable, "-m", "paste_proxy", "tools", "--workspace", "work")
        self.process = subprocess.Popen(
            command, cwd=place, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._number = 0
        version = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
        self.ask("initialize", version)
        self.ask("tools/list", {})

    def ask(self, method: str, params: Any) -> Any:
        assert self.process.stdin
        assert self.process.stdout
        self._number += 1
        request = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def call(self, tool: str, **arguments: str) -> str:
        return str(self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]["content"][0]["text"])

    def kill(self) -> None:
        """As the kernel does it when there is no memory left."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe
            with suppress(BrokenPipeError):
                pipe.close()


@pytest.fixture
def mark(tmp_path: Path) -> Iterator[str]:
    """A part of words that no other process has; those that have it do not outlive the test."""
    mark = f"hole{os.getpid()}"
    yield mark
    for pid in (*processes_with(mark), *processes_with(f"sleep\0987\0{mark[4:]}")):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


async def test_all_processes_of_a_read_end_with_a_sidecar_that_is_killed(tmp_path: Path, mark: str) -> None:
    sidecar = Sidecar(tmp_path, "run", command=f"wc -w {mark} | sort")
    try:
        (tmp_path / "work" / mark).touch()
        os.truncate(tmp_path / "work" / mark, 2**40)  # takes hours to read
        sidecar.call("run", command=f"sleep 987 {mark[4:]} > /dev/null 2>&1 & sleep 0.5")  # a tool worth running ahead
        sidecar.call("write", path="a", content="b")
        await found(lambda: any(map(is_quiet, processes_with(mark))))
    finally:
        sidecar.kill()
    await found(lambda: not processes_with(mark))
    (agents_own,) = processes_with(f"sleep\0987\0{mark[4:]}")
    os.kill(agents_own, signal.SIGKILL)


async def test_so_does_a_search(tmp_path: Path, mark: str) -> None:
    before = set(processes_with("search_process"))
    sidecar = Sidecar(tmp_path, "grep", pattern=FOREVER)
    try:
        (tmp_path / "work" / mark).write_text("x" * 5_000)
        sidecar.call("write", path="a", content="b")
        await found(lambda: any(map(is_quiet, set(processes_with("search_process")) - before)))
        (search,) = set(processes_with("search_process")) - before
    finally:
        sidecar.kill()
    await found(lambda: search not in processes_with("search_process"))


def test_sessions_that_began_and_have_not_ended_are_left() -> None:
    assert left([b"10\n", b"11\n", b"-10\n", b"12\n", b"-11\n"]) == {12}
    assert left([]) == set()


def test_one_that_watches_and_has_ended_is_started_again_and_told_of_all(mark: str) -> None:
    survivors = Survivors()
    several = f"sleep 987 {mark[4:]} | cat"
    with subprocess.Popen(("sh", "-c", several), start_new_session=True) as process:
        while not processes_with(f"sleep\0987\0{mark[4:]}"):
            pass
        assert not survivors.watched
        survivors.watch()
        survivors.began(process.pid)
        first = survivors._watching
        assert first is not None
        first.kill()
        first.wait()
        survivors.watch()
        second = survivors._watching
        assert second is not None
        os.close(survivors._told)
        assert process.wait() == -signal.SIGKILL
        second.wait()
    assert not processes_with(f"sleep\0987\0{mark[4:]}")
