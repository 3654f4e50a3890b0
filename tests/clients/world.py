"""What a client runs in: a home and a folder of its own, a scripted model, two MCP servers that count."""

import asyncio
import json
import os
import re
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.clients import lookup_server
from tests.clients.lookup_http import LookupHttp, lookup_http
from tests.clients.script import Format, Turn
from tests.clients.upstream import Asked, Upstream, upstream

STDIO, HTTP = "atlas", "depot"
"""The names of the two MCP servers, by transport."""
POLICY = f"""
default = "deny"
[[rule]]
tool = ["{STDIO}/lookup", "{HTTP}/lookup"]
effect = "read"
expected_s = {lookup_server.SLOW_S}
"""
_PATIENCE_S = 90
_DURATIONS = re.compile(r'(?<=_ms":)[\d.]+')
_IDS = re.compile(
    r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<![0-9a-f])[0-9a-f]{16}(?![0-9a-f])"  # a UUID, a digest
    r"|\d{4}-\d\d-\d\dT[\d:.]+Z|\d{4}-\d\d-\d\dT\d\d-\d\d-\w+"  # times, and files named by them
    r"|(?<!\d)1[5-9]\d{11}(?!\d)"  # milliseconds
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What came of one run of a client."""

    code: int
    stdout: str
    stderr: str
    seconds: float
    asked: tuple[Asked, ...]
    """The requests for turns that the upstream received."""
    tool_runs: dict[str, list[str]]
    """By server: the arguments that its tool was run with, sorted, each once: no client here asks for the same twice,
    and a repeat that was foreseen in vain runs a read again."""
    account: dict[str, Any]
    """What `--json` wrote; empty without a sidecar."""
    left: dict[str, bytes]
    """The files of home and folder afterwards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A place to run a client in; `run` may be called once."""

    root: Path
    home: Path
    folder: Path
    model: Upstream
    http: LookupHttp
    env: dict[str, str]
    furnished: dict[str, bytes]
    """The user's own files, once `remember` was called."""

    def remember(self) -> None:
        """The user has set everything up."""
        self.furnished.update({**files(self.home), **files(self.folder)})

    @property
    def stdio_command(self) -> list[str]:
        """What starts the stdio server."""
        return [sys.executable, lookup_server.__file__, STDIO, str(self.root / f"runs-{STDIO}")]

    async def run(
        self,
        command: Sequence[str],
        *,
        wrap: Sequence[str] | None = None,
        meanwhile: "Meanwhile | None" = None,
    ) -> Run:
        """Run `command`; with `wrap`, behind a sidecar with these options.

        Args:
            meanwhile: what happens beside the run.
        """
        account = self.root / "account.json"
        before = [] if wrap is None else [
            *(sys.executable, "-m", "paste_proxy", "wrap", "--json", str(account), *wrap, "--")
        ]  # fmt: skip
        started = time.monotonic()
        process = await asyncio.create_subprocess_exec(
            *before,
            *command,
            cwd=self.folder,
            env=dict(self.env),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(_PATIENCE_S), asyncio.TaskGroup() as group:
                if meanwhile is not None:
                    group.create_task(meanwhile(process, self))
                out = group.create_task(process.communicate())
            stdout, stderr = out.result()
        finally:
            if process.returncode is None:
                os.killpg(process.pid, 9)
                await process.wait()
        assert process.returncode is not None
        return Run(
            code=process.returncode,
            stdout=stdout.decode(),
            stderr=stderr.decode(),
            seconds=time.monotonic() - started,
            asked=tuple(self.model.asked),
            tool_runs={name: self._runs(name) for name in (STDIO, HTTP)},
            account=json.loads(account.read_text()) if account.exists() else {},
            left={**files(self.home), **files(self.folder)},
        )

    def policy(self) -> Path:
        """A policy file under which both servers' tools may be run ahead."""
        path = self.root / "policy.toml"
        path.write_text(POLICY)
        return path

    def scrub(self, text: str) -> str:
        """A text without ids, times, ports and the names of this world's folders."""
        text = text.replace(str(self.root), "ROOT").replace(re.sub(r"[^A-Za-z0-9]", "-", str(self.root)), "-ROOT")
        text = re.sub(r"127\.0\.0\.1:\d+", "HOST", text)
        return _DURATIONS.sub("0", _IDS.sub("ID", text))

    def _runs(self, name: str) -> list[str]:
        path = self.root / f"runs-{name}"
        return sorted(set(path.read_text().splitlines())) if path.exists() else []


Meanwhile = Callable[[asyncio.subprocess.Process, World], Coroutine[Any, Any, None]]
"""Given the started process and where it runs."""


@asynccontextmanager
async def world(root: Path, form: Format, turns: Sequence[Turn]) -> AsyncIterator[World]:
    """Lay out a world below `root`; the home is empty, the folder holds one note."""
    home, folder = root / "home", root / "folder"
    for path in (home, folder, root / "tmp"):
        path.mkdir(parents=True)
    (folder / "note.txt").write_text("The harbour opens at nine.\n")
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(upstream(form, turns))
        http = await stack.enter_async_context(lookup_http(HTTP, root / f"runs-{HTTP}"))
        env = {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "TERM": "dumb",
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "TMPDIR": str(root / "tmp"),
        }
        yield World(root=root, home=home, folder=folder, model=model, http=http, env=env, furnished={})


def files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its path from the folder's parent."""
    return {str(path.relative_to(folder.parent)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
