"""A whole sidecar that runs calls ahead as soon as the LLM has asked for them, in front of MCP servers and tools."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from paste_proxy.clock import SystemClock
from paste_proxy.config import Config, DispatchTool, Learning, LlmRoute, McpServer, Speculating
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
    asked_for: list[tuple[str, dict[str, Any] | str]] = field(default_factory=list)
    """What the LLM asks for next: arguments, or their very text."""

    @property
    def tally(self) -> Tally:
        return self.sidecar.tally

    def client(self, server: str, **headers: str) -> McpHttpClient:
        return McpHttpClient(self.http, f"{self.base}/mcp/{server}", **SESSION, **headers)

    async def llm_asks(self, *calls: tuple[str, dict[str, Any] | str]) -> None:
        """A turn of the LLM that ends in these calls, as the agent sees it."""
        self.asked_for[:] = calls
        await self._turn([{"role": "user", "content": "go on"}])

    async def told_of(self, tool: str) -> None:
        """A turn whose request tells of a call that nobody saw the LLM ask for, and that is over."""
        self.asked_for.clear()
        function = {"name": tool, "arguments": "{}"}
        call = {"role": "assistant", "tool_calls": [{"id": "x", "type": "function", "function": function}]}
        answer = {"role": "tool", "tool_call_id": "x", "content": "done"}
        await self._turn([{"role": "user", "content": "go on"}, call, answer])

    async def _turn(self, messages: list[dict[str, Any]]) -> None:
        sent = {"model": "m", "stream": True, "messages": messages, "tools": [{}]}
        async with self.http.post(f"{self.base}/v1/chat/completions", json=sent, headers=SESSION) as answer:
            assert answer.status == 200
            await answer.read()

    async def run_ahead(self, *calls: tuple[str, dict[str, Any] | str], launched: int = 1) -> None:
        """The same, and the first such calls are on their way to the server."""
        before = self.tally.launched
        await self.llm_asks(*calls)
        await until(lambda: self.tally.launched == before + launched and not connecting(self.sidecar))

    async def settled(self) -> None:
        """Everything that has reached the sidecar is taken in."""
        self.sidecar.watch.catch_up()
        await until(lambda: not self.sidecar.hub._inbox)

    async def dispatch(self, tool: str, arguments: str, session: str = "task-1") -> tuple[int, str]:
        """A tool that the sidecar runs itself, called with arguments as this text; status and answer."""
        url = f"{self.base}/paste/v1/sessions/{session}/tools/{tool}"
        async with self.http.post(url, data=arguments.encode("utf-8", "surrogatepass")) as answer:
            return answer.status, await answer.text()

    @property
    def served(self) -> int:
        """How many calls were answered from one that ran ahead."""
        return self.tally.outcomes[Outcome.REUSED] + self.tally.outcomes[Outcome.PROMOTED]


def connecting(sidecar: Sidecar) -> bool:
    """Whether a call that runs ahead waits for its connection."""
    return any(job.unsent for job in sidecar._scheduler._state.ledger.unpromoted())


@asynccontextmanager
async def speculating(
    folder: Path,
    *reads: str,
    rules: str = "",
    patterns: str = "",
    tools: Mapping[str, DispatchTool] | None = None,
    llm: str = "",
    **servers: McpServer,
) -> AsyncIterator[World]:
    """A sidecar with these servers; `reads` are the tools that may be run ahead, `server/tool`.

    Args:
        rules: of the policy, before those for `reads`.
        patterns: as people write them.
        tools: that the sidecar runs itself.
        llm: the upstream of every LLM wire, in place of one that asks for what `World.llm_asks` is told.
    """
    policy = folder / "policy.toml"
    policy.write_text(rules + "".join(f'[[rule]]\ntool = "{tool}"\neffect = "read"\n' for tool in reads))
    (folder / "patterns.toml").write_text(patterns)
    asked_for: list[tuple[str, dict[str, Any] | str]] = []

    def answer(_: bytes) -> ScriptedAnswer:
        texts = [(name, args if isinstance(args, str) else json.dumps(args)) for name, args in asked_for]
        return ScriptedAnswer(calls=tuple((f"c{n}", name, text) for n, (name, text) in enumerate(texts)))

    async with AsyncExitStack() as stack:
        there = llm or (await stack.enter_async_context(ScriptedLlm(answer))).url
        config = Config(
            llm=(LlmRoute(path="/", upstream=there),),
            mcp=servers,
            tools=dict(tools or {}),
            policies=(str(policy),),
            patterns=(str(folder / "patterns.toml"),) if patterns else (),
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
