"""Field cases of kind M: MCP, through a whole sidecar and sockets."""

import asyncio
import sys
from pathlib import Path

import pytest
from aiohttp import web

from paste_proxy.config import McpServer
from tests.field_cases.mcp_world import endpoint, speculating
from tests.peers.mcp_talk import Call, free_port, running, talk
from tests.peers.scripts import scripted
from tests.proxy.mcp.client import rpc, said
from tests.proxy.mcp.http_server import McpHttpServer
from tests.proxy.mcp.parts import until

MODERN = (sys.executable, str(Path(__file__).parent.parent / "peers" / "modern_server.py"))


async def test_b27_a_forgotten_session_is_the_client_s_to_open_again_and_ours_is_opened_once(tmp_path: Path) -> None:
    server = McpHttpServer()
    async with endpoint(server) as there, speculating(tmp_path, "s/look", s=there) as world:
        client = await world.client("s").open()
        await world.run_ahead(("mcp__s__look", {"k": 1}))
        assert said(await client.call("look", k=1)) == 'looked {"k": 1}'
        assert world.served == 1
        server.sessions.clear()
        (told,) = await client.send(rpc("tools/call", {"name": "count", "arguments": {}}, 8))
        assert (client.status, told["error"]["code"]) == (404, -32001)
        assert len(server.calls("count")) == 1, "the client's own call is never sent twice"
        await client.open()
        await world.run_ahead(("mcp__s__look", {"k": 2}))
        assert said(await client.call("look", k=2)) == 'looked {"k": 2}'
        assert world.served == 2


async def test_b27_a_speculative_session_that_was_forgotten_is_replayed_where_nothing_was_carried_out(
    tmp_path: Path,
) -> None:
    server = McpHttpServer()
    async with endpoint(server) as there, speculating(tmp_path, "s/look", s=there) as world:
        client = await world.client("s").open()
        await world.run_ahead(("mcp__s__look", {"k": 1}))
        assert said(await client.call("look", k=1)) == 'looked {"k": 1}'
        live = client.headers["Mcp-Session-Id"]
        server.sessions = {name: session for name, session in server.sessions.items() if name == live}
        await world.run_ahead(("mcp__s__look", {"k": 2}))
        assert said(await client.call("look", k=2)) == 'looked {"k": 2}'
        assert world.served == 2
    assert [one.session != live for one in server.calls("look")] == [True, True, True]


async def test_b27_a_404_before_any_session_is_only_an_answer(tmp_path: Path) -> None:
    server = McpHttpServer()
    async with endpoint(server) as there, speculating(tmp_path, s=there) as world:
        client = world.client("s")
        (told,) = await client.send(rpc("tools/call", {"name": "look"}, 1))
        assert (client.status, told["error"]["code"], len(server.seen)) == (404, -32001, 1)


@pytest.mark.peer
async def test_b27_the_official_client_meets_a_restarted_server_as_it_would_without_us(tmp_path: Path) -> None:
    port = free_port()
    calls: list[Call] = [("lookup", {"key": "a"})]
    there = McpServer(url=f"http://127.0.0.1:{port}/mcp")
    async with speculating(tmp_path, "s/lookup", s=there) as world:
        for _ in range(2):
            async with running((*MODERN, "http", str(port)), port) as url:
                assert await talk(f"{world.base}/mcp/s", calls, "legacy") == await talk(url, calls, "legacy")


@pytest.mark.parametrize(
    "accept",
    [
        "text/event-stream",
        "*/*",
        "text/event-stream, application/json",
        "application/json;q=0.5, text/event-stream;q=1.0",
    ],
)
async def test_b30_the_client_s_accept_goes_on_as_it_is_and_ours_names_both_forms(tmp_path: Path, accept: str) -> None:
    server = McpHttpServer()
    async with endpoint(server) as there, speculating(tmp_path, "s/look", s=there) as world:
        client = await world.client("s").open()
        await client.send(rpc("tools/call", {"name": "look"}, 1), Accept=accept)
        await world.run_ahead(("mcp__s__look", {"k": 2}))
        await until(lambda: len(server.calls("look")) == 2)
    live, ahead = server.calls("look")
    assert live.headers["Accept"] == accept
    assert ahead.headers["Accept"] == "application/json, text/event-stream"


async def test_b30_an_accept_in_two_lines_stays_in_two_lines(tmp_path: Path) -> None:
    class Noting(McpHttpServer):
        lines: tuple[str, ...] = ()

        async def handle(self, request: web.Request) -> web.StreamResponse:
            self.lines = tuple(request.headers.getall("Accept"))
            return web.json_response({"jsonrpc": "2.0", "id": 1, "result": {}})

    server = Noting()
    async with endpoint(server) as there, speculating(tmp_path, s=there) as world:
        headers = [("Accept", "application/json"), ("Accept", "text/event-stream")]
        await world.http.post(f"{world.base}/mcp/s", data=b'{"method":"ping","id":1}', headers=headers)
    assert server.lines == ("application/json", "text/event-stream")


async def test_b31_clients_with_one_id_and_our_own_calls_never_meet_in_one_session(tmp_path: Path) -> None:
    server = McpHttpServer()
    async with (
        endpoint(server) as there,
        speculating(tmp_path, "h/look", "p/echo", h=there, p=scripted()) as world,
    ):
        one, two = await world.client("h").open(), await world.client("h", Authorization="two").open()
        counted = await asyncio.gather(*(client.call("count", 1) for client in (one, two, one)))
        assert sorted(map(said, counted)) == ["1", "1", "2"]
        await world.run_ahead(("mcp__h__look", {"k": 1}))
        await until(lambda: server.calls("look"))
        assert server.calls("look")[0].session not in {client.headers["Mcp-Session-Id"] for client in (one, two)}
        own = [await world.client("p").open() for _ in range(2)]
        counted = await asyncio.gather(*(client.call("count", 1) for client in own))
        assert [said(response) for response in counted] == ["1", "1"]


async def test_b31_a_server_with_state_is_never_called_ahead(tmp_path: Path) -> None:
    server = McpHttpServer()
    async with endpoint(server) as there:
        stateful = there.model_copy(update={"stateless": False})
        async with speculating(tmp_path, "s/count", s=stateful) as world:
            client = await world.client("s").open()
            await world.llm_asks(("mcp__s__count", {}))
            assert said(await client.call("count")) == "1"
            assert (world.tally.launched, len(server.calls("count"))) == (0, 1)


async def test_b33_a_call_whose_stream_went_silent_ends_in_an_error_and_is_not_tried_again(tmp_path: Path) -> None:
    server = McpHttpServer()
    async with endpoint(server) as there:
        impatient = there.model_copy(update={"idle_call_s": 0.2})
        stdio = scripted().model_copy(update={"idle_call_s": 0.2})
        async with speculating(tmp_path, h=impatient, p=stdio) as world:
            for name, tool in (("h", "silent"), ("p", "hang")):
                client = await world.client(name).open()
                before = {"before": ": connected\n\n"} if name == "h" else {}
                answer = await client.call(tool, "x-1", **before)
                assert (answer["id"], answer["error"]["code"]) == ("x-1", -32000)
                assert "sent nothing" in answer["error"]["message"]
                assert "result" in await client.call("look" if name == "h" else "echo")
    assert len(server.calls("silent")) == 1


async def test_b34_four_huge_results_at_once_come_whole_and_none_is_held(tmp_path: Path) -> None:
    server = McpHttpServer()
    async with (
        endpoint(server) as there,
        speculating(tmp_path, "h/big", "p/big", h=there, p=scripted()) as world,
    ):
        for name, arguments in (("h", {}), ("p", {"size": 12 * 2**20})):
            clients = [await world.client(name, Authorization=str(number)).open() for number in range(4)]
            results = await asyncio.gather(*(client.call("big", **arguments) for client in clients))
            assert [len(said(result)) for result in results] == [12 * 2**20] * 4
        client = await world.client("h").open()
        await world.run_ahead(("mcp__h__big", {}))
        await until(lambda: len(server.calls("big")) == 5)
        assert len(said(await client.call("big"))) == 12 * 2**20
        assert world.served == 0


async def test_b69_an_error_of_a_tool_has_the_status_that_its_server_gave_it(tmp_path: Path) -> None:
    server = McpHttpServer()
    async with endpoint(server) as there, speculating(tmp_path, "s/fail", s=there, p=scripted()) as world:
        for name in ("s", "p"):
            client = await world.client(name).open()
            unknown = await client.call("no-such-tool", "n")
            assert (client.status, unknown["id"], unknown["error"]["code"]) == (200, "n", -32602)
            failed = await client.call("fail")
            assert (client.status, failed["result"]["isError"]) == (200, True)
        client = await world.client("s").open()
        await world.run_ahead(("mcp__s__fail", {}))
        await until(lambda: len(server.calls("fail")) == 2)
        assert (await client.call("fail"))["result"]["isError"] is True
        assert (world.served, len(server.calls("fail"))) == (0, 3)
