"""A sidecar as a process of its own, with the config that a test writes."""

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

PATIENCE_S = 60.0
"""Bound of every wait in a test, in seconds."""


@dataclass(frozen=True, slots=True)
class Live:
    """A running sidecar."""

    url: str

    async def stats(self) -> dict[str, Any]:
        """Its sums."""
        async with aiohttp.ClientSession() as session, session.get(f"{self.url}/paste/v1/stats") as answer:
            sums: dict[str, Any] = json.loads(await answer.read())
            return sums


@asynccontextmanager
async def sidecar(folder: Path, *, routes: str, policy: str, patterns: str = "") -> AsyncIterator[Live]:
    """Start one that may speculate.

    Args:
        routes: its `[[llm]]` tables.
        policy: the text of a policy file.
        patterns: the text of a pattern file; empty: none is loaded.
    """
    loaded = 'patterns = ["patterns.toml"]\n' if patterns else ""
    head = f'port = 0\npolicies = ["policy.toml"]\n{loaded}[speculation]\nmode = "speculate"\n'
    for name, text in (("policy", policy), ("patterns", patterns), ("paste", f"{head}\n{routes}")):
        (folder / f"{name}.toml").write_text(text)
    with (folder / "log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "paste_proxy", "serve", "--config", "paste.toml"),
            cwd=folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
        )
    assert process.stdout is not None
    try:
        said = (await asyncio.wait_for(process.stdout.readline(), PATIENCE_S)).decode()
        found = re.search(r"http://[\w.:]+", said)
        assert found, (folder / "log").read_text()
        yield Live(found[0])
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()
