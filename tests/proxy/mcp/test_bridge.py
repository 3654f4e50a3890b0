"""`/mcp/NAME` in front of a stdio server."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from paste_proxy.config import Limits, McpServer
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status, ToolResult
from paste_proxy.testing import FakeGate
from paste_proxy.wire.sse import SseDecoder
from tests.peers.scripts import scripted
from tests.proxy.mcp.client import McpHttpClient
from tests.proxy.mcp.parts import sidecar, until

BOTH = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
META = '"io.modelcontextprotocol/protocolVersion":"2026-07-28"'
HELLO = (
    '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},'
    '"clientInfo":{"name":"t","version":"1"}}}'
)


def call(name: str, id_raw: str = "1", arguments: str = "{}", meta: str = "") -> str:
    return (
        f'{{"jsonrpc":"2.0","id":{id_raw},"method":"tools/call",'
        f'"params":{{"name":"{name}","arguments":{arguments},"_meta":{{{meta}}}}}}}'
    )


class Client:
    """A client of the session era, by hand."""

    def __init__(self, http: aiohttp.ClientSession, url: str) -> None:
        self.http, self.url = http, url
        self.headers = dict(BOTH)
        self.form = ""

    async def open(self, hello: str = HELLO) -> "Client":
        async with self.http.post(self.url, data=hello, headers=BOTH) as answer:
            self.headers["Mcp-Session-Id"] = answer.headers["Mcp-Session-Id"]
            await answer.read()
        assert (await self.post('{"jsonrpc":"2.0","method":"notifications/initialized"}'))[0] == 202
        return self

    async def post(self, body: str, **headers: str) -> tuple[int, bytes]:
        async with self.http.post(self.url, data=body, headers={**self.headers, **headers}) as answer:
            self.form = answer.content_type
            return answer.status, await answer.read()

    async def messages(self, body: str, **headers: str) -> list[bytes]:
        status, text = await self.post(body, **headers)
        assert status == 200
        if self.form == "application/json":
            return [text]
        return [event.data for event in SseDecoder(2**30).feed(text)]

    async def text(self, body: str) -> str:
        message: Any = json.loads((await self.messages(body))[-1])
        return str(message["result"]["content"][0]["text"])


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


async def test_only_the_framing_of_messages_changes(http: aiohttp.ClientSession) -> None:
    gate = FakeGate()
    async with sidecar(gate, {"s": scripted()}) as base:
        client = await Client(http, f"{base}/mcp/s").open()
        assert await client.messages(call("echo", '"\\u0061"', '{"text":"é"}')) == [
            b'{"result": {"isError": false, "content":[ {"type":"text","text":"\\u00e9"} ]}'
            b',  "jsonrpc":"2.0", "id":"a"}'
        ]
        status, text = await client.post(call("echo"), Accept="application/json")
        assert (status, text[:11]) == (200, b'{"result": ')
        assert (await client.messages(call("odd")))[0].endswith(b'"error":{"code":-32602,"message":"Unknown tool"}}')
        await client.messages(call("fail"))
    assert gate.asked[0].invocation == Invocation("s/echo", {"text": "é"})
    ends = [result.status if result else None for result in gate.over.values()]
    assert ends == [Status.OK, Status.OK, Status.ERROR, Status.ERROR]


async def test_progress_goes_with_the_request_that_wants_it(http: aiohttp.ClientSession) -> None:
    async with sidecar(FakeGate(), {"s": scripted()}) as base:
        client = await Client(http, f"{base}/mcp/s").open()
        first, second = await asyncio.gather(
            client.messages(call("progress", "1", meta='"progressToken":"p"')),
            client.messages(call("progress", "2", meta='"progressToken":7')),
        )
    assert [b'"progressToken":"p","progress":%d.0' % step in first[step] for step in range(3)] == [True] * 3
    assert [b'"progressToken":7,"progress":%d.0' % step in second[step] for step in range(3)] == [True] * 3
    assert (len(first), len(second)) == (4, 4)


async def test_each_session_has_a_server_of_its_own(http: aiohttp.ClientSession) -> None:
    gate = FakeGate()
    async with sidecar(gate, {"s": scripted()}) as base:
        one = await Client(http, f"{base}/mcp/s").open()
        two = await Client(http, f"{base}/mcp/s").open()
        assert [await one.text(call("count")) for _ in range(2)] == ["1", "2"]
        assert await two.text(call("count")) == "1"
    assert len({asked.scope for asked in gate.asked}) == 2


async def test_a_server_s_request_is_answered_through_the_client_s_stream(http: aiohttp.ClientSession) -> None:
    async with sidecar(FakeGate(), {"s": scripted()}) as base:
        client = await Client(http, f"{base}/mcp/s").open()
        async with http.get(client.url, headers=client.headers) as stream:
            asked = asyncio.create_task(client.text(call("roots")))
            event = await stream.content.readuntil(b"\r\n\r\n")
            assert event == b'event: message\r\ndata: {"jsonrpc":"2.0", "id":"srv-1", "method":"roots/list"}\r\n\r\n'
            status, _ = await client.post('{"jsonrpc":"2.0","id":"srv-1","result":{"roots":[]}}')
            assert status == 202
            assert await asked == '{"roots": []}'


async def test_without_a_stream_a_message_takes_an_open_answer_or_waits_for_one(http: aiohttp.ClientSession) -> None:
    async with sidecar(FakeGate(), {"s": scripted()}) as base:
        client = await Client(http, f"{base}/mcp/s").open()
        told = await client.messages(call("notify"))
        assert (len(told), b"list_changed" in told[0]) == (2, True)
        await client.post(call("notify"), Accept="application/json")
        async with http.get(client.url, headers=client.headers) as stream:
            assert b"list_changed" in await stream.content.readuntil(b"\r\n\r\n")


async def test_a_server_that_dies_says_why_and_its_session_is_gone(http: aiohttp.ClientSession) -> None:
    gate = FakeGate()
    async with sidecar(gate, {"s": scripted()}) as base:
        client = await Client(http, f"{base}/mcp/s").open()
        await client.messages('{"jsonrpc":"2.0","id":5,"method":"tools/list"}')
        assert gate.offers
        hanging = asyncio.create_task(client.messages(call("hang", "8")))
        await until(lambda: gate.asked)
        (told,) = await client.messages(call("die", "9", '{"code":5}'))
        message = json.loads(told)
        assert message["id"] == 9
        assert (
            "'s' exited with code 5; its last stderr lines: about to die | for a reason" in message["error"]["message"]
        )
        assert b'"id":8' in (await hanging)[0]
        status, text = await client.post(call("echo"))
        assert (status, b"send initialize again" in text) == (404, True)
        assert (gate.over, gate.offers) == ({1: None, 2: None}, {})
        assert await (await client.open()).text(call("count")) == "1"


async def test_delete_ends_the_session_and_its_server(http: aiohttp.ClientSession) -> None:
    async with sidecar(FakeGate(), {"s": scripted()}) as base:
        client = await Client(http, f"{base}/mcp/s").open()
        async with http.get(client.url, headers=client.headers) as stream:
            async with http.delete(client.url, headers=client.headers) as answer:
                assert answer.status == 200
            assert await stream.content.read() == b""
        assert (await client.post(call("echo")))[0] == 404


async def test_an_idle_session_ends(http: aiohttp.ClientSession) -> None:
    gate = FakeGate()
    async with sidecar(gate, {"s": scripted()}, limits=Limits(session_idle_s=0.1)) as base:
        client = await Client(http, f"{base}/mcp/s").open()
        await client.messages('{"jsonrpc":"2.0","id":5,"method":"tools/list"}')
        assert gate.offers
        await until(lambda: not gate.offers)
        assert (await client.post(call("echo")))[0] == 404


async def test_a_client_that_leaves_does_not_cancel_in_the_session_era(http: aiohttp.ClientSession) -> None:
    gate = FakeGate()
    async with sidecar(gate, {"s": scripted()}) as base:
        client = await Client(http, f"{base}/mcp/s").open()
        leaving = asyncio.create_task(client.messages(call("hang", "8")))
        await until(lambda: gate.asked)
        leaving.cancel()
        assert await client.text(call("release", "9")) == "done"
        await until(lambda: len(gate.over) == 2)
    assert all(result is not None for result in gate.over.values())


async def test_a_result_of_twelve_megabytes_comes_whole(http: aiohttp.ClientSession) -> None:
    async with sidecar(FakeGate(), {"s": scripted()}) as base:
        client = await Client(http, f"{base}/mcp/s").open()
        size = 12 * 2**20
        results = await asyncio.gather(*(client.messages(call("big", str(n), f'{{"size":{size}}}')) for n in range(2)))
        assert [b"x" * size in messages[0] for messages in results] == [True, True]


async def test_a_ready_result_is_served_and_the_server_not_asked(http: aiohttp.ClientSession) -> None:
    gate = FakeGate()
    async with sidecar(gate, {"s": scripted()}) as base:
        client = await Client(http, f"{base}/mcp/s").open()
        gate.ready[Invocation("s/count", {}).key] = ToolResult(body=b'{"content":[{"text":"ready"}]}')
        assert await client.text(call("count")) == "ready"
        assert await client.text(call("count")) == "1"


async def test_a_batch_is_answered_message_by_message(http: aiohttp.ClientSession) -> None:
    gate = FakeGate()
    async with sidecar(gate, {"s": scripted()}) as base:
        client = await Client(http, f"{base}/mcp/s").open()
        body = f"[{call('echo', '1')},{call('echo', '2')}]"
        assert len(await client.messages(body)) == 2
        status, text = await client.post(body, Accept="application/json")
        assert (status, len(json.loads(text))) == (200, 2)
    assert len(gate.over) == 4


async def test_stateless_clients_share_a_server_and_keep_their_ids(http: aiohttp.ClientSession) -> None:
    gate = FakeGate()
    async with sidecar(gate, {"s": scripted("modern")}) as base:
        one, two = Client(http, f"{base}/mcp/s"), Client(http, f"{base}/mcp/s")
        two.headers["Authorization"] = "other"
        body = call("progress", '"x"', meta=META + ',"progressToken":1')
        first, second = await asyncio.gather(one.messages(body), two.messages(body))
        assert first == second
        assert [json.loads(raw)["params"]["progressToken"] for raw in first[:3]] == [1, 1, 1]
        assert json.loads(first[3])["id"] == "x"
        assert (
            b'{"isError": false, "content":[ {"type":"text","text":"made progress"} ], "resultType":"complete"}'
            in first[3]
        )
        assert sorted([await one.text(call("count", meta=META)), await two.text(call("count", meta=META))]) == [
            "1",
            "2",
        ]
    assert len({asked.scope for asked in gate.asked}) == 2


async def test_a_stateless_client_that_leaves_takes_its_request_back(http: aiohttp.ClientSession) -> None:
    gate = FakeGate()
    async with sidecar(gate, {"s": scripted("modern")}) as base:
        client = Client(http, f"{base}/mcp/s")
        leaving = asyncio.create_task(client.messages(call("hang", meta=META)))
        await until(lambda: gate.asked)
        leaving.cancel()
        await until(lambda: gate.over == {1: None})
        assert await client.text(call("release", meta=META)) == "done"


async def test_what_is_for_no_stateless_client_in_particular_goes_to_none(http: aiohttp.ClientSession) -> None:
    gate = FakeGate()
    async with sidecar(gate, {"s": scripted("modern")}) as base:
        one, two = Client(http, f"{base}/mcp/s"), Client(http, f"{base}/mcp/s")
        waiting = asyncio.create_task(one.messages(call("hang", meta=META)))
        await until(lambda: gate.asked)
        await two.post(call("notify", meta=META), Accept="application/json")
        await two.post(call("release", meta=META))
        (told,) = await waiting
        assert b"released" in told


async def test_an_older_server_answers_the_probe_of_the_stateless_era_itself(http: aiohttp.ClientSession) -> None:
    async with sidecar(FakeGate(), {"s": scripted()}) as base:
        client = Client(http, f"{base}/mcp/s")
        probe = f'{{"jsonrpc":"2.0","id":"p-1","method":"server/discover","params":{{"_meta":{{{META}}}}}}}'
        status, told = await client.post(probe)
        assert status == 404
        assert json.loads(told) == {
            "jsonrpc": "2.0",
            "id": "p-1",
            "error": {"code": -32601, "message": "Method not found"},
        }


async def test_what_cannot_be_is_refused_with_the_protocol_s_statuses(http: aiohttp.ClientSession) -> None:
    async with sidecar(FakeGate(), {"s": scripted(), "bad": McpServer(command=("no-such-command",))}) as base:
        client = Client(http, f"{base}/mcp/s")
        assert (await client.post("{"))[0] == 400
        assert (await client.post(call("echo")))[0] == 400
        assert (await client.post(call("echo"), **{"Mcp-Session-Id": "x"}))[0] == 404
        assert (await client.post(HELLO, Origin="http://evil.example"))[0] == 403
        assert (await client.post(HELLO, Origin="http://localhost:3000"))[0] == 200
        assert (await http.get(client.url)).status == 405
        status, text = await Client(http, f"{base}/mcp/bad").post(HELLO)
        assert (status, b"no-such-command" in text) == (200, True)


async def test_a_client_that_leaves_before_its_session_opens_leaves_no_process(
    http: aiohttp.ClientSession, tmp_path: Path
) -> None:
    note = tmp_path / "pid"
    mute = McpServer(command=("sh", "-c", f"echo $$ > {note}.part; mv {note}.part {note}; exec cat > {note}.heard"))
    async with sidecar(FakeGate(), {"s": mute}) as base:
        opening = asyncio.create_task(http.post(f"{base}/mcp/s", data=HELLO, headers=BOTH))
        await until(lambda: Path(f"{note}.heard").exists() and Path(f"{note}.heard").stat().st_size)
        pid = int(await asyncio.to_thread(note.read_text))
        opening.cancel()
        await asyncio.wait([opening])
        await until(lambda: not Path(f"/proc/{pid}").exists())


async def test_a_session_s_other_user_is_out_of_reach_of_what_was_run_ahead_for_the_first(
    http: aiohttp.ClientSession,
) -> None:
    async with sidecar(gate := FakeGate(), {"s": scripted()}) as base:
        client = await McpHttpClient(http, f"{base}/mcp/s", Authorization="Bearer alice").open()
        await until(lambda: gate.offers)
        await client.call("echo", text="a")
        client.headers["Authorization"] = "Bearer bob"
        await client.call("echo", text="a")
        assert not gate.offers
        await client.call("echo", text="a")
        assert gate.offers
    first, *others = [asked.scope for asked in gate.asked]
    assert others[0] == others[1] != first
