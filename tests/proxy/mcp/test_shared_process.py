"""The process of clients without sessions, started before a call that may come."""

from collections.abc import Iterable
from typing import Any

import aiohttp
import pytest

from paste_proxy.config import Limits
from paste_proxy.events.invocation import Invocation
from paste_proxy.proxy.mcp import children
from paste_proxy.proxy.mcp.starting import start
from paste_proxy.testing import FakeGate
from paste_proxy.tools.backend import Preparable, Preparing
from tests.peers.scripts import scripted
from tests.proxy.mcp.client import META, McpHttpClient, rpc, said
from tests.proxy.mcp.parts import sidecar, until

LISTING = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}


def needs(gate: FakeGate) -> Iterable[Preparable]:
    """What a call through the only offer needs."""
    ((backend, _),) = gate.offers.values()
    assert isinstance(backend, Preparing)
    return backend.needs(Invocation("s/count", {}))


async def test_a_process_that_ended_is_there_again_before_the_call_is(monkeypatch: pytest.MonkeyPatch) -> None:
    started = list[str]()

    async def counted(name: str, *more: Any) -> Any:
        started.append(name)
        return await start(name, *more)

    monkeypatch.setattr(children, start.__name__, counted)
    limits = Limits(session_idle_s=0.5)
    async with (
        aiohttp.ClientSession() as http,
        sidecar(gate := FakeGate(), {"s": scripted("modern")}, limits=limits) as base,
    ):
        client = McpHttpClient(http, f"{base}/mcp/s")
        await client.send(rpc("tools/list", {"_meta": META}, 1), **LISTING)
        (shared,) = needs(gate)
        assert (shared.ready, shared.apart, await shared.prepare()) == (True, False, False)
        await until(lambda: not shared.ready)
        assert await shared.prepare()
        assert (shared.ready, len(started)) == (True, 2)
        assert said(await client.call_stateless("count")) == "1"
        assert len(started) == 2


async def test_a_client_with_a_session_has_its_process_and_needs_none() -> None:
    async with aiohttp.ClientSession() as http, sidecar(gate := FakeGate(), {"s": scripted()}) as base:
        await McpHttpClient(http, f"{base}/mcp/s").open()
        assert list(needs(gate)) == []
