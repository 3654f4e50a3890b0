"""The official MCP servers from npm, installed once into a cached folder."""

import fcntl
import os
import shutil
import subprocess
from pathlib import Path
from typing import NoReturn

import pytest

CACHE = Path(__file__).parents[2] / ".cache" / "npm"
PACKAGES = ("@modelcontextprotocol/server-filesystem@2026.8.31", "@modelcontextprotocol/server-everything@2026.8.31")


def installed() -> Path:
    """The `node_modules` folder with the pinned servers; a missing npm skips, on CI it fails."""
    stamp = CACHE / "installed.txt"
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.read_text() != "\n".join(PACKAGES):
            _install(stamp)
    return CACHE / "node_modules"


def filesystem_command(folder: Path) -> tuple[str, ...]:
    """`server-filesystem` with `folder` as its one allowed directory."""
    main = installed() / "@modelcontextprotocol/server-filesystem/dist/index.js"
    return (_node(), str(main), str(folder))


def everything_command(transport: str = "stdio") -> tuple[str, ...]:
    """`server-everything` over `stdio` or `streamableHttp` (environment `PORT`)."""
    main = installed() / "@modelcontextprotocol/server-everything/dist/index.js"
    return (_node(), str(main), transport)


def _install(stamp: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        _lacking("npm is not installed")
    command = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--no-save", "--prefix", str(CACHE)]
    done = subprocess.run([*command, *PACKAGES], capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        _lacking(f"npm install failed: {done.stderr[-400:]}")
    stamp.write_text("\n".join(PACKAGES))


def _node() -> str:
    node = shutil.which("node")
    if node is None:
        _lacking("node is not installed")
    return node


def _lacking(why: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(why)
    pytest.skip(why)
