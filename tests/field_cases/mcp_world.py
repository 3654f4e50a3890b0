"""A whole sidecar that runs calls ahead as soon as the LLM has asked for them, in front of MCP servers."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from paste_proxy.clock import SystemClock
from paste_proxy.config import Config, Learning, LlmRoute, McpServer, Speculating
from paste_proxy.events.types import Outcome
from paste_proxy.proxy.app import build_app
from paste_proxy.proxy.composition import Sidecar
from paste_proxy.proxy.hub.tally import Tally
from paste_proxy.proxy.server import app_runner
from paste_proxy.speculation.types import Mode
from paste_proxy.testing import ScriptedAnswer, ScriptedLlm
from tests.proxy.mcp.client import McpHttpClient
from tests.proxy.mcp.http_server import McpHttpServer
from tests.proxy.mcp.parts import listen, until

SESSION = {"x-paste-session": "task-1"}


@dataclass
class World:
    """What stands around the agent."""

    base: str
    http: aiohttp.ClientSession
    sidecar: Sidecar
    asked_for: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    """What the LLM asks for next."""

    @property
    def tally(self) -> Tally:
        return self.sidecar.tally

    def client(self, server: str, **headers: str) -> McpHttpClient:
        return McpHttpClient(self.http, f"{self.base}/mcp/{server}", **SESSION, **headers)

    async def llm_asks(self, *calls: tuple[str, dict[str, Any]]) -> None:
        """A turn of the LLM that ends in these calls, as the agent sees it."""
        self.asked_for[:] = calls
        sent = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "go on"}], "tools": [{}]}
        async with self.http.post(f"{self.base}/v1/chat/completions", json=sent, headers=SESSION) as answer:
            assert answer.status == 200
            await answer.read()

    async def run_ahead(self, *calls: tuple[str, dict[str, Any]], launched: int = 1) -> None:
        """The same, and the first such calls are on their way to the server."""
        before = self.tally.launched
        await self.llm_asks(*calls)
        await until(lambda: self.tally.launched == before + launched and not connecting(self.sidecar))

    @property
    def served(self) -> int:
        """How many calls were answered from one that ran ahead."""
        return self.tally.outcomes[Outcome.REUSED] + self.tally.outcomes[Outcome.PROMOTED]


def connecting(sidecar: Sidecar) -> bool:
    """Whether a call that runs ahead waits for its connection."""
    return any(job.unsent for job in sidecar._scheduler._state.ledger.unpromoted())


@asynccontextmanager
async def speculating(folder: Path, *reads: str, **servers: McpServer) -> AsyncIterator[World]:
    """A sidecar with these servers; `reads` are the tools that may be run ahead, `server/tool`."""
    policy = folder / "policy.toml"
    policy.write_text("".join(f'[[rule]]\ntool = "{tool}"\neffect = "read"\n' for tool in reads))
    asked_for: list[tuple[str, dict[str, Any]]] = []

    def answer(_: bytes) -> ScriptedAnswer:
        numbered = enumerate(asked_for)
        return ScriptedAnswer(calls=tuple((f"c{n}", name, json.dumps(args)) for n, (name, args) in numbered))

    async with AsyncExitStack() as stack:
        llm = await stack.enter_async_context(ScriptedLlm(answer))
        config = Config(
            llm=(LlmRoute(path="/v1", upstream=f"{llm.url}/v1"),),
            mcp=servers,
            policies=(str(policy),),
            speculation=Speculating(mode=Mode.SPECULATE, min_benefit_s=0),
            learning=Learning(general=False),
        )
        sidecar = await asyncio.to_thread(Sidecar, config, SystemClock())
        runner = app_runner(build_app(config, sidecar.parts()))
        await runner.setup()
        stack.push_async_callback(runner.cleanup)
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        http = await stack.enter_async_context(aiohttp.ClientSession())
        yield World(f"http://127.0.0.1:{runner.addresses[0][1]}", http, sidecar, asked_for)
        assert not sidecar.tally.faults


@asynccontextmanager
async def endpoint(server: McpHttpServer) -> AsyncIterator[McpServer]:
    """The server at an address, as a configured one."""
    async with AsyncExitStack() as stack:
        app = web.Application(client_max_size=0)
        app.router.add_route("*", "/mcp", server.handle)
        yield McpServer(url=await listen(stack, app) + "/mcp")
