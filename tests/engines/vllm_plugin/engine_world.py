"""A real vLLM server with the plug-in in it, for tests: `PASTE_VLLM_PYTHON` names an interpreter that has vLLM.

That interpreter needs nothing of this project but orjson: the package and its entry points are put on its path.
"""

import asyncio
import json
import os
import re
import socket
import subprocess
import time
import tomllib
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from paste_proxy.bench.tiny_dialogues import TOOLS, Message, as_sent

ROOT = Path(__file__).parents[3]
_STARTS_S = 400.0


def interpreter() -> str | None:
    """Of an environment with vLLM."""
    return os.environ.get("PASTE_VLLM_PYTHON") or None


def environment(folder: Path, **settings: str) -> dict[str, str]:
    """Of the server: this checkout, its entry points, and the plug-in switched on."""
    described = folder / "path" / "paste_proxy-0.dist-info"
    described.mkdir(parents=True, exist_ok=True)
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: paste-proxy\nVersion: 0\n")
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    lines = [f"[{group}]\n" + "".join(f"{n} = {v}\n" for n, v in points.items()) for group, points in groups.items()]
    (described / "entry_points.txt").write_text("\n".join(lines))
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(described.parent), str(ROOT)]),
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
        "VLLM_PLUGINS": "paste",
        "PASTE_VLLM": "1",
        **settings,
    }


def make_model(folder: Path) -> Path:
    """The tiny model."""
    directory = folder / "tiny"
    command = [str(interpreter()), "-m", "paste_proxy.bench.tiny_models", str(directory)]
    subprocess.run(command, check=True, env=environment(folder), cwd=folder)
    return directory


@dataclass(slots=True)
class Engine:
    """A server that runs."""

    base: str
    log: Path
    process: subprocess.Popen[bytes]

    def stop(self) -> None:
        """End it."""
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def start(folder: Path, model: Path, *options: str, **settings: str) -> Engine:
    """A server with this model, once it answers.

    Raises:
        RuntimeError: it does not.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = folder / "vllm.log"
    command = [str(interpreter()), "-m", "vllm.entrypoints.openai.api_server", "--model", str(model)]
    command += ["--served-model-name", "tiny", "--host", "127.0.0.1", "--port", str(port), "--enforce-eager"]
    command += ["--dtype", "float32", "--enable-auto-tool-choice", "--tool-call-parser", "hermes", *options]
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, env=environment(folder, **settings), cwd=folder, stdout=out, stderr=subprocess.STDOUT
        )
    engine = Engine(f"http://127.0.0.1:{port}", log, process)
    until = time.monotonic() + _STARTS_S
    while time.monotonic() < until and process.poll() is None:
        try:
            urllib.request.urlopen(f"{engine.base}/health", timeout=5).close()
        except (urllib.error.URLError, OSError):
            time.sleep(1.0)
        else:
            return engine
    engine.stop()
    raise RuntimeError(f"vLLM did not start: {log.read_text(errors='replace')[-3_000:]}")


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Wait until the server says so.

    Raises:
        AssertionError: it does not.
    """
    for _ in range(3_000):
        if await holds():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("what was waited for does not come")


class Client:
    """Asks the server.

    Args:
        http: which knows where it is.
    """

    def __init__(self, http: aiohttp.ClientSession) -> None:
        self._http = http

    async def cache(self, response: str, *entries: dict[str, Any]) -> Any:
        """Post entries."""
        async with self._http.post(f"/cache-tool-output/{response}", json=list(entries)) as answer:
            assert answer.status == 200, await answer.text()
            return (await answer.json())["cached"]

    async def chat(self, messages: list[Message], response: str | None = None, **more: Any) -> dict[str, Any]:
        """A completion, whole."""
        async with self._ask(messages, response, **more) as answer:
            told: dict[str, Any] = await answer.json()
            assert answer.status == 200, told
            return told

    async def completion(self, prompt: list[int]) -> list[int]:
        """What the model writes to these tokens, the one that ends it included."""
        body = {"model": "tiny", "prompt": prompt, "temperature": 0, "max_tokens": 200, "return_token_ids": True}
        async with self._http.post("/v1/completions", json=body) as answer:
            told: list[int] = (await answer.json())["choices"][0]["token_ids"]
            return told

    @asynccontextmanager
    async def stream(
        self, messages: list[Message], response: str | None = None, **more: Any
    ) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
        """A completion's chunks; leaving is hanging up."""
        async with self._ask(messages, response, stream=True, **more) as answer:
            yield _chunks(answer)

    async def state(self) -> dict[str, Any]:
        """What the plug-in tells."""
        async with self._http.get("/paste/vllm") as answer:
            told: dict[str, Any] = await answer.json()
            return told

    async def metrics(self, *names: str) -> tuple[float, ...]:
        """Of the engine's own, of one moment."""
        async with self._http.get("/metrics") as answer:
            text = await answer.text()
        return tuple(
            sum(float(value) for value in re.findall(rf"^vllm:{name}\{{[^}}]*\}} (\S+)$", text, re.MULTILINE))
            for name in names
        )

    async def metric(self, name: str) -> float:
        """One of them."""
        return (await self.metrics(name))[0]

    async def lingering(self, count: int) -> None:
        """Wait until so many responses wait for outputs."""

        async def they_do() -> bool:
            told: int = (await self.state())["tool_cache"]["lingering"]
            return told >= count

        await until(they_do)

    async def idle(self) -> None:
        """Wait until the engine has nothing to do, and holds nothing.

        Raises:
            AssertionError: it does not come to that.
        """
        names = ("num_requests_running", "num_requests_waiting", "kv_cache_usage_perc")
        for _ in range(100):
            seen = dict(zip(names, await self.metrics(*names), strict=True))
            if not any(seen.values()):
                return
            await asyncio.sleep(0.1)
            await self.chat([{"role": "user", "content": "Hello!"}], vllm_xargs=None, max_tokens=1)
        raise AssertionError(f"the engine is not idle: {seen}")

    def _ask(self, messages: list[Message], response: str | None, **more: Any) -> Any:
        body = {"model": "tiny", "temperature": 0, "messages": as_sent(messages), "tools": TOOLS, "max_tokens": 200}
        body |= {"vllm_xargs": {"paste_task": "a task"}, **more}
        return self._http.post(
            "/v1/chat/completions", json=body, headers={"X-Request-Id": response} if response else {}
        )


async def _chunks(answer: aiohttp.ClientResponse) -> AsyncIterator[dict[str, Any]]:
    async for line in answer.content:
        if line.startswith(b"data: ") and not line.startswith(b"data: [DONE]"):
            yield json.loads(line.removeprefix(b"data: "))
