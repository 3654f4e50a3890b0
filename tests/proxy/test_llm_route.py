"""Which upstream a request goes to, what the gate is shown, and real clients through the sidecar."""

import asyncio
import logging
from collections.abc import Callable, Mapping

import aiohttp
import orjson
import pytest
from aiohttp import web
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletionChunk

from paste_proxy.config import Config, Limits, LlmRoute
from paste_proxy.errors import InputFault
from paste_proxy.proxy.hub.tally import Tally
from paste_proxy.proxy.llm_route import Found, LlmRoutes
from paste_proxy.proxy.ports import Pieces, TurnTee, Waiting
from tests.proxy.llm_world import (
    PATIENCE_S,
    STREAM_HEAD,
    NotingGate,
    Seen,
    Turn,
    answer,
    chunked,
    exchange,
    joined,
    post,
    replying,
    sidecar,
    until,
    upstream,
)


def routes(*pairs: tuple[str, str]) -> LlmRoutes:
    return LlmRoutes(LlmRoute(path=path, upstream=there, wire="openai_chat") for path, there in pairs)


class TestRoutes:
    @pytest.mark.parametrize(
        ("raw", "target"),
        [
            ("/v1/chat/completions", "http://a/v1/chat/completions"),
            ("/v1", "http://a/v1"),
            ("/v1?x=1", "http://a/v1?x=1"),
            ("/v1/anthropic/m", "http://b/m"),
            ("/v1beta/m:go", "http://c/base/m:go"),
            ("/v10", None),
            ("/V1/x", None),
            ("/", None),
        ],
    )
    def test_the_longest_path_wins_at_a_segment_boundary(self, raw: str, target: str | None) -> None:
        table = routes(("/v1", "http://a/v1/"), ("/v1/anthropic/", "http://b"), ("/v1beta", "http://c/base"))
        found = table.find(raw)
        assert (found and found.target) == target

    def test_the_root_takes_what_is_left(self) -> None:
        table = routes(("/", "http://a"), ("/v1", "http://b"))
        assert table.find("/x?y") == Found("http://a/x?y", "openai_chat", None)
        assert table.find("/v1/x") == Found("http://b/x", "openai_chat", None)

    def test_two_routes_of_one_path_are_refused(self) -> None:
        with pytest.raises(InputFault, match=r"llm\[1\].path: '/v1/' a second time"):
            routes(("/v1", "http://a"), ("/v1/", "http://b"))

    @pytest.mark.parametrize("upstream", ["http://u:secret@a/v1", "http://a/v1?key=secret", "http://a/#secret"])
    def test_an_upstream_with_more_than_a_place_is_refused_without_repeating_secrets(self, upstream: str) -> None:
        with pytest.raises(InputFault, match=r"llm\[0\].upstream") as refused:
            routes(("/v1", upstream))
        assert "secret" not in str(refused.value)

    async def test_an_unknown_path_is_answered_with_the_configured_ones(self) -> None:
        async with sidecar(("/v1", "http://127.0.0.1:9"), ("/anthropic", "http://127.0.0.1:9")) as port:
            raw = await exchange(port, post("/v2/x", b"{}"))
        assert raw.startswith(b"HTTP/1.1 404 ")
        assert b"no route for /v2/x; configured LLM paths: /anthropic, /v1" in raw

    async def test_our_own_paths_never_reach_an_upstream(self) -> None:
        async with upstream(replying(answer(b"theirs"))) as there, sidecar(("/", there.url)) as port:
            assert (await exchange(port, post("/paste/v1/nothing", b""))).startswith(b"HTTP/1.1 404 ")
            raw = await exchange(port, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert raw.endswith(b"\r\n\r\nok\n")
            assert there.seen == []


class TestWhatTheGateSees:
    async def test_it_is_opened_when_the_request_has_gone_and_closed_when_the_answer_has(self) -> None:
        gate, go = NotingGate(), asyncio.Event()

        async def held(_: Seen, writer: asyncio.StreamWriter) -> None:
            assert len(gate.turns) <= 1
            await go.wait()
            writer.write(answer(b"done", b"Content-Type: application/json"))

        async with upstream(held) as there, sidecar(("/v1", there.url), gate=gate) as port:
            asking = asyncio.ensure_future(exchange(port, post("/v1/x", b"{}", b"X-Paste-Session: s")))
            await until(there.asked)
            assert gate.turns[0].body == b"{}"
            assert gate.turns[0].headers["x-paste-session"] == "s"
            assert gate.turns[0].status is None
            go.set()
            await asking
            turn = gate.turns[0]
        assert (turn.wire, turn.status, turn.chunks, turn.clean) == ("openai_chat", 200, [b"done"], True)

    async def test_an_upstream_out_of_reach_is_never_shown(self) -> None:
        gate = NotingGate()
        async with sidecar(("/v1", "http://127.0.0.1:9"), gate=gate) as port:
            await exchange(port, post("/v1/x", b"{}"))
        assert gate.turns == []

    async def test_only_posts_are_shown(self) -> None:
        gate = NotingGate()
        async with upstream(replying(answer(b"ok"))) as there, sidecar(("/v1", there.url), gate=gate) as port:
            await exchange(port, b"GET /v1/models HTTP/1.1\r\nHost: s\r\nConnection: close\r\n\r\n")
        assert gate.turns == []

    async def test_beyond_the_bounds_it_is_shown_nothing_more_and_the_turn_counts_as_cut(self) -> None:
        gate = NotingGate()
        config = Config(limits=Limits(observed_request_bytes=300_000, observed_answer_bytes=1000))
        answered = STREAM_HEAD + chunked(bytes(900), bytes(900))
        async with upstream(replying(answered)) as there, sidecar(("/v1", there.url), gate=gate, config=config) as port:
            assert joined(await exchange(port, post("/v1/x", bytes(400_000)))) == bytes(1800)
            assert len(there.seen[0].body) == 400_000
        assert gate.turns[0].body is None
        assert sum(map(len, gate.turns[0].chunks)) <= 1000
        assert gate.turns[0].clean is False

    @pytest.mark.parametrize("broken", ["opened", "answer", "chunk", "closed"])
    async def test_a_broken_observer_is_counted_and_not_noticed(self, broken: str) -> None:
        class Breaking(Turn):
            def __getattribute__(self, name: str) -> object:
                if name == broken:
                    raise ZeroDivisionError
                return super().__getattribute__(name)

        class Gate:
            def opened(
                self,
                *,
                wire: str,
                target: str,
                headers: Mapping[str, str],
                body: Pieces | None,
                waiting: Waiting | None = None,
            ) -> TurnTee:
                if broken == "opened":
                    raise ZeroDivisionError
                return Breaking(wire, headers, None if body is None else b"".join(body))

            def tunnelled(self) -> Callable[[], None]:
                raise AssertionError("no tunnel was opened")

        tally = Tally()
        stream = STREAM_HEAD + chunked(b"data: 1\n\n", b"data: 2\n\n")
        async with upstream(replying(stream)) as there, sidecar(("/v1", there.url), gate=Gate(), tally=tally) as port:
            assert joined(await exchange(port, post("/v1/x", b"{}"))) == b"data: 1\n\ndata: 2\n\n"
        assert tally.faults == {"tee": 1}


TOOLS_STREAM = (
    b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":'
    b'{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_1","type":"function","function":'
    b'{"name":"look","arguments":""}}]},"finish_reason":null}]}\n\n'
    b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":'
    b'{"tool_calls":[{"index":0,"function":{"arguments":"{\\"q\\":1}"}}]},"finish_reason":null}]}\n\n'
    b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},'
    b'"finish_reason":"tool_calls"}]}\n\n'
    b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":'
    b'{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}\n\ndata: [DONE]\n\n'
)


async def streamed(base_url: str) -> list[ChatCompletionChunk]:
    async with AsyncOpenAI(base_url=base_url, api_key="k", max_retries=0) as client:
        stream = await client.chat.completions.create(
            model="m",
            stream=True,
            messages=[{"role": "user", "content": "look"}],
            tools=[{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}],
        )
        return [chunk async for chunk in stream]


class TestRealClients:
    async def test_the_openai_client_gets_the_same_stream_with_tools_as_without_us(self) -> None:
        pieces = [TOOLS_STREAM[at : at + 97] for at in range(0, len(TOOLS_STREAM), 97)]
        gate = NotingGate()
        async with upstream(replying(STREAM_HEAD + chunked(*pieces))) as there:
            async with sidecar(("/v1", there.url + "/v1"), gate=gate) as port:
                direct = await streamed(there.url + "/v1")
                relayed = await streamed(f"http://127.0.0.1:{port}/v1")
            assert there.seen[0].body == there.seen[1].body
            assert there.seen[0].target == there.seen[1].target == b"/v1/chat/completions"
            plain, passed = ([line for line in seen.header_lines if b"ost:" not in line] for seen in there.seen)
            assert sorted(plain) == sorted([*passed, *[line for line in plain if line.startswith(b"Connection")]])
        assert relayed == direct
        assert len(direct) == 4
        assert orjson.loads(gate.turns[0].body or b"")["stream"] is True
        assert b"".join(gate.turns[0].chunks) == TOOLS_STREAM

    async def test_a_websocket_is_tunnelled_with_its_frames_and_its_close_code(self) -> None:
        async def echo(request: web.Request) -> web.WebSocketResponse:
            socket = web.WebSocketResponse(protocols=["realtime"])
            await socket.prepare(request)
            await socket.send_str(f"{request.path_qs} {request.headers['Authorization']} {socket.ws_protocol}")
            async for message in socket:
                if message.data == "bye":
                    await socket.close(code=4001, message=b"as you wish")
                elif message.type is aiohttp.WSMsgType.TEXT:
                    await socket.send_str(message.data)
                else:
                    await socket.send_bytes(message.data)
            return socket

        app = web.Application()
        app.router.add_get("/v1/realtime", echo)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        async with sidecar(("/v1", url + "/v1")) as port, aiohttp.ClientSession() as http:
            at = f"http://127.0.0.1:{port}/v1/realtime?model=m"
            async with http.ws_connect(at, protocols=["realtime"], headers={"Authorization": "Bearer k"}) as socket:
                assert await socket.receive_str(timeout=PATIENCE_S) == "/v1/realtime?model=m Bearer k realtime"
                await socket.send_bytes(b"\x00\xff")
                assert await socket.receive_bytes(timeout=PATIENCE_S) == b"\x00\xff"
                await socket.send_str("bye")
                closing = await socket.receive(timeout=PATIENCE_S)
                assert (closing.type, closing.data, closing.extra) == (aiohttp.WSMsgType.CLOSE, 4001, "as you wish")
        await runner.cleanup()

    async def test_b41_an_upgrade_that_the_upstream_refuses_is_refused_with_its_status(self) -> None:
        refused = answer(b"", status=b"426 Upgrade Required")
        async with (
            upstream(replying(refused)) as there,
            sidecar(("/v1", there.url)) as port,
            aiohttp.ClientSession() as http,
        ):
            with pytest.raises(aiohttp.WSServerHandshakeError) as told:
                await http.ws_connect(f"http://127.0.0.1:{port}/v1/responses")
        assert told.value.status == 426


async def test_b67_no_key_reaches_a_log_line(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    async with sidecar(("/v1", "http://127.0.0.1:9")) as port:
        keys = [b"Authorization: Bearer sk-secret", b"x-api-key: sk-secret", b"x-goog-api-key: sk-secret"]
        raw = await exchange(port, post("/v1/x?key=sk-secret", b"{}", *keys))
    assert b"sk-secret" not in raw
    assert "sk-secret" not in caplog.text + "".join(capsys.readouterr())


def test_a_route_with_ports_of_its_own_is_found_on_these_only() -> None:
    routes = LlmRoutes(
        [
            LlmRoute(path="/v1", upstream="http://a/v1"),
            LlmRoute(path="/", upstream="http://b", ports=(6001, 6002)),
            LlmRoute(path="/", upstream="http://c", ports=(6003,)),
        ]
    )
    assert routes.ports == {6001, 6002, 6003}
    found = [routes.find("/v1/x?q=1", port) for port in (None, 6001, 6002, 6003)]
    assert [one and one.target for one in found] == [
        "http://a/v1/x?q=1",
        "http://b/v1/x?q=1",
        "http://b/v1/x?q=1",
        "http://c/v1/x?q=1",
    ]
    assert routes.find("/metrics") is None


def test_one_path_of_one_port_is_given_once() -> None:
    twice = [LlmRoute(path="/", upstream=f"http://{host}", ports=(6001,)) for host in ("a", "b")]
    with pytest.raises(InputFault, match="on port 6001"):
        LlmRoutes(twice)
