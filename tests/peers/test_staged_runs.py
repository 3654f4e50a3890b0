"""`paste-proxy tools --stage` as a program: a command that is foreseen is run in a view, and happens when it is asked
for, whoever dies meanwhile."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.types import TextContent

from paste_proxy.staging.forks import Forks
from paste_proxy.staging.probe import probe
from paste_proxy.staging.types import Tier

SUITE = "import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual({}, 3)\n"
WRONG, RIGHT = SUITE.format("1 + 1"), SUITE.format("1 + 2")
FILES = 300
PATIENCE_S = (1, 2, 4, 8, 16, 32)


SAYS_AND_LEAVES = (
    f"{sys.executable} -m unittest -b sum 2>&1 | tail -1; cp sum.py copy.py; mkdir -p made; touch made/{{1..3}}; ls"
)
"""A suite."""


@pytest.fixture
async def place(tmp_path: Path) -> Path:
    """A workspace, stages beside it, and a pattern for `command` after a write; skips where there are no views."""
    (tmp_path / "work").mkdir()
    (tmp_path / "base").mkdir(mode=0o700)
    forks = Forks()
    tier, why = await probe(str(tmp_path / "base"), forks)
    await forks.close()
    if tier is Tier.NONE:
        pytest.skip(f"no views here: {why}")
    (tmp_path / "work" / "sum.py").write_text(WRONG)
    foresee(tmp_path, SAYS_AND_LEAVES)
    return tmp_path


def foresee(place: Path, what: str) -> None:
    pattern = '[[pattern]]\nid = "p"\ntool = "workbench/run"\nafter = "ok workbench/write"\nconfidence = 0.9\n'
    (place / "pattern.toml").write_text(f"{pattern}arguments.command = {{ constant = {json.dumps(what)} }}\n")
    (place / "paste.toml").write_text(
        'patterns = ["pattern.toml"]\n[speculation]\nmode = "speculate"\n[staging]\ndirectory = "base"\n'
        '[learning]\nenabled = false\ngeneral = false\n[recording]\ndirectory = "events"\n'
    )


def tools(place: Path, *options: str) -> StdioServerParameters:
    args = ["-m", "paste_proxy", "tools", "--workspace", "work", *(options or ("--stage",))]
    return StdioServerParameters(command=sys.executable, args=args, cwd=place, env=dict(os.environ))


async def said(client: Client, tool: str, **arguments: Any) -> str:
    (block,) = (await client.call_tool(tool, arguments)).content
    assert isinstance(block, TextContent)
    return block.text


async def until(holds: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110  what other processes do has no event
            await asyncio.sleep(0.002)


async def comes(holds: Callable[[], object], seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await until(holds)
    except TimeoutError:
        return False
    return True


def stages(place: Path) -> list[Path]:
    return sorted((place / "base").glob("process-*/stage-*"))


def leaves(place: Path, name: str) -> bool:
    """Whether a command that is staged has made a file of that name."""
    try:
        return any(True for stage in stages(place) for _ in stage.glob(f"upper*/**/{name}"))
    except FileNotFoundError:  # it was being made, or taken away, while it was looked at
        return False


def outcomes(place: Path) -> list[str]:
    """How jobs ended, as recorded; for a server that has ended."""
    lines = [line for path in (place / "events").iterdir() for line in path.read_text().splitlines()]
    return [event["outcome"] for event in map(json.loads, lines) if event["type"] == "speculation"]


def contents(place: Path) -> dict[str, str]:
    found = sorted((place / "work").rglob("*"))
    return {path.name: path.read_text() for path in found if path.is_file() and "__pycache__" not in path.parts}


def nothing_is_left(place: Path) -> bool:
    return [path.name for path in (place / "base").iterdir()] == ["lock"]


async def written(place: Path, client: Client, content: str) -> None:
    """The agent's LLM has written the file, and looks at that while the command is being staged."""
    await client.list_tools()
    for patience_s in PATIENCE_S:  # at first it is not known yet what the machine can do
        await said(client, "write", path="sum.py", content=content)
        if await comes(lambda: stages(place), patience_s):
            return
    raise AssertionError("nothing was staged")


async def test_what_was_staged_is_there_when_it_is_asked_for_and_all_is_as_without(place: Path) -> None:
    async with Client(tools(place)) as client:
        await written(place, client, RIGHT)
        assert contents(place) == {"sum.py": RIGHT}
        ahead = await said(client, "run", command=SAYS_AND_LEAVES)
    staged = contents(place)
    assert outcomes(place)[-1] in ("reused", "promoted")
    assert nothing_is_left(place)
    for made in ("copy.py", "made/1", "made/2", "made/3"):
        (place / "work" / made).unlink()
    (place / "work" / "made").rmdir()
    async with Client(tools(place, "--mode", "off")) as client:
        assert await said(client, "run", command=SAYS_AND_LEAVES) == ahead
    assert contents(place) == staged
    assert ahead.startswith("[exit 0]\nOK\n")


async def test_what_somebody_changed_by_hand_is_seen_by_the_command(place: Path) -> None:
    async with Client(tools(place)) as client:
        await written(place, client, WRONG)
        await until(lambda: leaves(place, "copy.py"))
        (place / "work" / "sum.py").write_text(RIGHT)
        assert (await said(client, "run", command=SAYS_AND_LEAVES)).startswith("[exit 0]\nOK\n")
    assert not {"reused", "promoted"} & set(outcomes(place))
    assert nothing_is_left(place)


@pytest.mark.parametrize("options", [("--mode", "speculate"), ("--no-stage", "--policy", "builtin:staging")])
async def test_it_stages_nothing_unless_it_is_told_to(place: Path, options: tuple[str, ...]) -> None:
    async with Client(tools(place, *options)) as client:
        await client.list_tools()
        await said(client, "write", path="sum.py", content=RIGHT)
        assert (await said(client, "run", command=SAYS_AND_LEAVES)).startswith("[exit 0]\nOK\n")
    assert not any((place / "base").iterdir())


class Lines:
    """A client that can be gone at any moment."""

    def __init__(self, place: Path) -> None:
        ours = tools(place)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self._place = place
        self.server = subprocess.Popen((ours.command, *ours.args), cwd=place, env=ours.env, **pipes)  # type: ignore[call-overload]
        self._number = 0
        version = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
        self.ask("initialize", version)
        self.ask("tools/list", {})

    def send(self, method: str, params: Any) -> None:
        self._number += 1
        self.server.stdin.write(
            json.dumps({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}).encode() + b"\n"
        )
        self.server.stdin.flush()

    def ask(self, method: str, params: Any) -> Any:
        self.send(method, params)
        return json.loads(self.server.stdout.readline())

    def call(self, tool: str, **arguments: Any) -> str:
        return str(self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]["content"][0]["text"])

    async def stage(self, until_it: Callable[[Path], object]) -> None:
        """Have the command staged, as far as said."""
        for patience_s in PATIENCE_S:
            await asyncio.to_thread(self.call, "write", path="sum.py", content=WRONG)
            if await comes(lambda: until_it(self._place), patience_s):
                return
        raise AssertionError("nothing was staged")


@contextmanager
def lines(place: Path) -> Iterator[Lines]:
    client = Lines(place)
    try:
        yield client
    finally:
        client.server.kill()
        client.server.wait()
        client.server.stdout.close()
        with suppress(BrokenPipeError):
            client.server.stdin.close()


def processes_of(mark: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes()
        except OSError:
            continue
        if mark.encode() in line:
            found.append(path.parent.name)
    return found


async def test_killed_while_it_stages_it_leaves_nothing_and_the_next_one_clears_up(place: Path) -> None:
    mark = f"sleep 31{os.getpid()}"
    foresee(place, f"echo x > begun; {mark}")
    with lines(place) as client:
        await client.stage(lambda place: leaves(place, "begun"))
        await until(lambda: processes_of(mark.replace(" ", "\0")))
        client.server.send_signal(signal.SIGKILL)
        await until(lambda: not processes_of(mark.replace(" ", "\0")))
    assert set(contents(place)) == {"sum.py"}
    assert stages(place)
    async with Client(tools(place)) as again:
        await again.list_tools()
        await until(lambda: not stages(place))
    assert nothing_is_left(place)


@pytest.mark.parametrize("killed", [True, False])
async def test_whoever_goes_in_the_middle_of_a_commit_the_whole_of_it_happens(place: Path, killed: bool) -> None:
    many = f"for i in $(seq {FILES}); do echo $i > f$i; done; echo > sum.py"
    foresee(place, many)
    with lines(place) as client:
        await client.stage(stages)
        await asyncio.to_thread(client.send, "tools/call", {"name": "run", "arguments": {"command": many}})
        await until(lambda: any((stage / "journal").exists() for stage in stages(place)))
        if killed:
            client.server.send_signal(signal.SIGKILL)
        client.server.stdin.close()
        await asyncio.to_thread(client.server.wait)
    if killed:
        assert stages(place)
        async with Client(tools(place)) as again:
            assert await said(again, "run", command="cat sum.py; ls f* | wc -l") == f"[exit 0]\n\n{FILES}\n"
    assert contents(place) == {"sum.py": "\n", **{f"f{number}": f"{number}\n" for number in range(1, FILES + 1)}}
    assert nothing_is_left(place)
