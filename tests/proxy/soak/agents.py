"""Agents whose sessions run over real sockets, each noting every byte that it was given."""

import asyncio
import json
from contextlib import AsyncExitStack
from random import Random
from typing import Any

import aiohttp

from paste_proxy import Sidecar
from paste_proxy.wire.jsonspans import members
from tests.proxy.soak.world import Asked, Database, Turn, World, plan

WAYS = {"dispatch": "", "mcp": "db__", "sdk": "sdk_"}
_PATIENCE_S = 60.0
_HANGS_UP_S = 0.003


def plans(seed: int, sessions: int, turns: int) -> dict[str, list[Turn]]:
    """The plan of each session, by its space; the space's name says how its agent calls tools."""
    ways = list(WAYS)
    spaces = [f"{ways[number % len(ways)]}-{number}" for number in range(sessions)]
    return {space: plan(space, WAYS[space.partition("-")[0]], turns, Random(f"{seed} {space}")) for space in spaces}


class Agent:
    """One session.

    Args:
        base: where it finds its LLM and its tools.
        named: whether it tells the sidecar which session it is.
    """

    def __init__(self, base: str, space: str, turns: list[Turn], http: aiohttp.ClientSession, *, named: bool) -> None:
        self._base, self._space, self._turns, self._http = base, space, turns, http
        self._headers = {"x-paste-session": space} if named else {}
        self._messages: list[dict[str, Any]] = [{"role": "user", "content": f"look after {space}"}]
        self.view: list[Any] = []

    async def live(self, database: Database) -> None:
        """Go through the whole plan."""
        async with AsyncExitStack() as stack:
            act = await self._way(stack, database)
            for number, turn in enumerate(self._turns):
                async with asyncio.timeout(_PATIENCE_S):
                    await self._ask_llm(number, turn)
                    await self._call_tools(turn, act)

    # --- LLM --------------------------------------------------------------------------------------

    async def _ask_llm(self, number: int, turn: Turn) -> None:
        if turn.fault == "left":
            await self._leave_llm(number, turn)
        for _ in range(1 + (turn.fault in ("cut", "refused", "length"))):
            self.view.append(await self._completion(number, turn))

    def _request(self, number: int) -> Any:
        body = {"model": "m", "stream": True, "messages": self._messages}
        body["metadata"] = {"plan": self._space, "turn": number}
        return self._http.post(f"{self._base}/v1/chat/completions", json=body, headers=self._headers)

    async def _completion(self, number: int, turn: Turn) -> Any:
        try:
            async with self._request(number) as answer:
                return answer.status, await answer.read()
        except aiohttp.ClientError:
            assert turn.fault == "cut"
            return "cut"

    async def _leave_llm(self, number: int, turn: Turn) -> None:
        async with self._request(number) as answer:
            self.view.append((answer.status, await answer.content.read(1)))
            await asyncio.sleep(turn.cut_at / 30)

    # --- tools ------------------------------------------------------------------------------------

    async def _call_tools(self, turn: Turn, act: Any) -> None:
        entries, results = [], []
        for order, call in enumerate(turn.calls):
            call_id = f"call_{order}"
            seen = await self._leave_tool(act, call, call_id) if call.leaves else await act(call, call_id)
            self.view.append(seen)
            function = {"name": call.tool, "arguments": json.dumps(call.arguments)}
            entries.append({"id": call_id, "type": "function", "function": function})
            results.append({"role": "tool", "tool_call_id": call_id, "content": repr(seen)[:2_000]})
        self._messages.append({"role": "assistant", "content": turn.text, "tool_calls": entries})
        self._messages += results

    async def _leave_tool(self, act: Any, call: Asked, call_id: str) -> str:
        calling = asyncio.create_task(act(call, call_id))
        await asyncio.wait([calling], timeout=_HANGS_UP_S)
        calling.cancel()
        await asyncio.gather(calling, return_exceptions=True)
        return "left"

    async def _way(self, stack: AsyncExitStack, database: Database) -> Any:
        match self._space.partition("-")[0]:
            case "dispatch":
                return self._dispatch
            case "mcp":
                await self._rpc(0, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {}})
                await self._rpc(1, "tools/list", {})
                return self._mcp
            case _:
                paste = await stack.enter_async_context(Sidecar(self._base, session=self._space))
                return self._sdk(paste, database)

    async def _dispatch(self, call: Asked, call_id: str) -> Any:
        url = f"{self._base}/paste/v1/sessions/{self._space}/tools/{call.tool}"
        async with self._http.post(url, json=call.arguments, headers={"x-paste-call-id": call_id}) as answer:
            return answer.status, answer.headers["content-type"], await answer.read()

    async def _mcp(self, call: Asked, call_id: str) -> Any:
        name = call.tool.removeprefix(WAYS["mcp"])
        return await self._rpc(len(self.view) + 2, "tools/call", {"name": name, "arguments": call.arguments})

    async def _rpc(self, number: int, method: str, params: dict[str, Any]) -> Any:
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        headers = {**self._headers, "x-client": self._space, "accept": "application/json, text/event-stream"}
        async with self._http.post(f"{self._base}/mcp/db", json=message, headers=headers) as answer:
            parts = members(await answer.read()) or {}
            return answer.status, parts.get("id"), parts.get("result"), parts.get("error")

    def _sdk(self, paste: Sidecar, database: Database) -> Any:
        @paste.tool(name="sdk_read", failed=lambda answer: answer[0] >= 400)
        async def read(space: str, key: str) -> tuple[int, bytes]:
            return await database.run("read", {"space": space, "key": key})

        @paste.tool(name="sdk_write")
        async def write(space: str, key: str, value: int) -> tuple[int, bytes]:
            return await database.run("write", {"space": space, "key": key, "value": value})

        async def act(call: Asked, call_id: str) -> Any:
            with paste.call_id(call_id):
                return await (read if call.tool == "sdk_read" else write)(**call.arguments)

        return act


async def live(base: str, world: World, *, unnamed: int, at_once: int) -> dict[str, list[Any]]:
    """Run every session; the views by space.

    Args:
        unnamed: one session in so many does not say which it is.
        at_once: how many sessions live at the same time at most.
    """
    room = asyncio.Semaphore(at_once)

    async def live_one(agent: Agent) -> None:
        async with room:
            await agent.live(world.database)

    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=None)) as http:
        agents = {
            space: Agent(base, space, turns, http, named=number % unnamed != 0)
            for number, (space, turns) in enumerate(world.plans.items())
        }
        await asyncio.gather(*map(live_one, agents.values()))
    return {space: agent.view for space, agent in agents.items()}
