"""An MCP session of our own, open before anything is run ahead in it."""

import pytest

from paste_proxy.errors import UpstreamFault
from paste_proxy.speculation.preparation import Need, Preparation
from paste_proxy.tools.mcp_ahead import SessionAhead
from paste_proxy.tools.mcp_client import McpClient
from paste_proxy.tools.mcp_hello import Hello
from paste_proxy.tools.mcp_link import Answerer, Link
from tests.proxy.mcp.parts import until
from tests.tools.test_mcp_client import HELLO, MODERN, TOOLS, Present, invocation, over_stdio


async def test_a_session_that_is_opened_ahead_is_the_one_that_is_used() -> None:
    async with over_stdio(Present(HELLO)) as (client, started):
        ahead = SessionAhead("s", client)
        assert [ahead.ready, await ahead.prepare(), ahead.ready, await ahead.prepare()] == [False, True, True, False]
        await client.run(invocation("count"), speculative=True)
        assert len(started) == 1


async def test_one_that_was_closed_for_being_idle_is_opened_again() -> None:
    async with over_stdio(Present(HELLO), idle_s=0.05) as (client, started):
        ahead = SessionAhead("s", client)
        await ahead.prepare()
        await until(lambda: not ahead.ready)
        assert await ahead.prepare()
        assert len(started) == 2


async def test_one_that_cannot_be_opened_is_an_upstreams_fault() -> None:
    async with over_stdio(Present(HELLO), "no-such-behaviour") as (client, _):
        await client.close()
        with pytest.raises(UpstreamFault):
            await SessionAhead("s", client).prepare()


class Shared:
    """Something that clients without sessions share."""

    need = Need(Preparation.SESSION, "shared")
    ready = apart = False

    async def prepare(self) -> bool:
        return True


async def nowhere(_: Answerer) -> Link:
    raise AssertionError("nobody has called")


@pytest.mark.parametrize(("hello", "apart"), [(HELLO, [True]), (MODERN, [False, True])])
async def test_clients_without_sessions_need_what_they_share_too(hello: Hello, apart: list[bool]) -> None:
    client = McpClient("s", nowhere, Present(hello), lambda: TOOLS, opens=True, shared=(Shared(),))
    assert [each.apart for each in client.needs(invocation("count"))] == apart


async def test_none_is_opened_ahead_where_nothing_may_be_run_ahead() -> None:
    client = McpClient("s", nowhere, Present(HELLO), lambda: TOOLS)
    assert list(client.needs(invocation("count"))) == []
