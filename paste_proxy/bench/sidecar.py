"""A sidecar process of its own for a measurement, with a config written for it."""

import asyncio
import json
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import aiohttp

from paste_proxy.errors import OurFault
from paste_proxy.share import share
from paste_proxy.speculation.types import Mode

_START_S = 20.0
_STOP_S = 40.0
_CONFIG, _POLICY = "paste.toml", "policy.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a measured sidecar is configured with; everything else is its defaults."""

    mode: Mode
    llm: str
    """Upstream of `/v1`."""
    tools: dict[str, str]
    """Tool name -> URL."""
    mcp: dict[str, str]
    """MCP server name -> URL."""
    workbenches: dict[str, str] = field(default_factory=dict)
    """MCP server name -> the folder that our own tools work in."""
    policy: str = ""
    """A policy beside the packaged ones."""
    patterns: tuple[str, ...] = ()
    """Files beside the packaged ones."""
    ttl_s: float = 120.0
    min_benefit_s: float = 0.02
    slots: int = 16
    capacity: dict[str, int] = field(default_factory=dict)
    """Server name -> calls that it takes at once, all of which may be run ahead."""
    learns: bool = True


@dataclass(frozen=True, slots=True)
class Sidecar:
    """A running sidecar."""

    url: str
    pid: int


@asynccontextmanager
async def running_sidecar(setting: Setting) -> AsyncIterator[Sidecar]:
    """Start `paste-proxy serve`, wait until it is ready, and stop it at the end.

    Raises:
        OurFault: it did not become ready; its last words are in the message.
    """
    async with sidecar_of(lambda port: {_CONFIG: config_text(setting, port), _POLICY: setting.policy}) as sidecar:
        yield sidecar


@asynccontextmanager
async def sidecar_of(files: Callable[[int], Mapping[str, str]]) -> AsyncIterator[Sidecar]:
    """The same with a config of one's own.

    Args:
        files: given the port, `paste.toml` and what it names, by their names; called in a thread.

    Raises:
        OurFault: as `running_sidecar`.
    """
    port = _free_port()
    folder = await asyncio.to_thread(lambda: _written(files(port)))
    words = Path(folder.name) / "serve.log"
    try:
        log = await asyncio.to_thread(words.open, "wb")
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "paste_proxy", "serve", "--config", str(words.with_name(_CONFIG))),
            stdout=log,
            stderr=log,
        )
        try:
            url = f"http://127.0.0.1:{port}"
            await _ready(url, process, words)
            yield Sidecar(url, process.pid)
        finally:
            await _stop(process)
            await asyncio.to_thread(log.close)
    finally:
        await asyncio.to_thread(folder.cleanup)


def _written(files: Mapping[str, str]) -> TemporaryDirectory[str]:
    """A folder with these files."""
    folder = TemporaryDirectory(prefix="paste-bench-")
    for name, text in files.items():
        Path(folder.name, name).write_text(text, "utf-8")
    return folder


def config_text(setting: Setting, port: int) -> str:
    """The config file: every packaged policy and pattern pool, the given ones and upstreams."""
    lines = [
        f"port = {port}",
        f"policies = {json.dumps([*_builtin('policies', '*.toml'), _POLICY])}",
        f"patterns = {json.dumps([*_builtin('patterns', '*.json'), *setting.patterns])}",
        "[speculation]",
        f'mode = "{setting.mode}"',
        f"ttl_s = {setting.ttl_s}",
        f"min_benefit_s = {setting.min_benefit_s}",
        f"slots = {setting.slots}",
        "[learning]",
        f"enabled = {json.dumps(setting.learns)}",
        "[[llm]]",
        'path = "/v1"',
        f'upstream = "{setting.llm}"',
    ]
    for table, entries in (("tools", setting.tools), ("mcp", setting.mcp)):
        for name, url in entries.items():
            lines += [f"[{table}.{json.dumps(name)}]", f'url = "{url}"']
    for name, slots in setting.capacity.items():
        lines += [f"[capacity.{json.dumps(name)}]", f"total = {slots}", f"speculative = {slots}"]
    for name, folder in setting.workbenches.items():
        lines += [f"[mcp.{json.dumps(name)}]", f"workbench = {json.dumps(folder)}"]
    return "\n".join(lines) + "\n"


def _builtin(kind: str, pattern: str) -> list[str]:
    return [f"builtin:{name}" for name in sorted({path.name.partition(".")[0] for path in share(kind).glob(pattern)})]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


async def _ready(url: str, process: asyncio.subprocess.Process, words: Path) -> None:
    deadline = asyncio.get_running_loop().time() + _START_S
    async with aiohttp.ClientSession() as http:
        while process.returncode is None and asyncio.get_running_loop().time() < deadline:
            try:
                async with http.get(f"{url}/readyz") as answer:
                    if answer.status == 200:
                        return
            except aiohttp.ClientConnectionError:
                pass
            await asyncio.sleep(0.05)
    said = (await asyncio.to_thread(words.read_text, "utf-8", "replace"))[-2000:]
    raise OurFault(f"the measured sidecar did not become ready within {_START_S:.0f} s; it said: {said.strip()}")


async def _stop(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.send_signal(signal.SIGTERM)
    try:
        await asyncio.wait_for(process.wait(), _STOP_S)
    except TimeoutError:
        process.kill()
        await process.wait()
