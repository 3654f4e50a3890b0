"""The read side: who may read it, and what it says."""

import asyncio
import json

import orjson
import pytest
from aiohttp import web

from paste_proxy.config import Config, DispatchTool, LlmRoute, McpServer
from paste_proxy.proxy.app import build_app
from paste_proxy.proxy.composition import compose
from paste_proxy.proxy.http.hosts import own_hosts
from paste_proxy.proxy.server import app_runner
from tests.proxy.llm_world import answer, exchange, post, replying, sidecar, upstream


async def get(path: str, host: str = "127.0.0.1:8377") -> bytes:
    async with sidecar() as port:
        request = f"GET {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://evil.example\r\nConnection: close\r\n\r\n"
        return await exchange(port, request.encode())


async def test_liveness_and_readiness_are_answered() -> None:
    assert (await get("/healthz")).startswith(b"HTTP/1.1 200 ")
    assert (await get("/readyz")).endswith(b"\r\n\r\nready\n")


@pytest.mark.parametrize("name", ["stats", "sessions", "patterns", "policies"])
async def test_every_part_is_json_without_cors(name: str) -> None:
    raw = await get(f"/paste/v1/{name}")
    head, _, body = raw.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 ")
    assert b"access-control" not in head.lower()
    orjson.loads(body)


@pytest.mark.parametrize("path", ["/", "/paste/v1/", "/paste/v1"])
async def test_an_index_says_what_is_where(path: str) -> None:
    head, _, body = (await get(path)).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 ")
    shown = json.loads(body)
    assert shown["mode"] == "observe"
    for named in shown["paths"]:
        assert (await get(named)).startswith(b"HTTP/1.1 200 ")


async def test_an_index_names_every_route_and_leaves_the_root_to_a_route_that_takes_it() -> None:
    config = Config(tools={"look": DispatchTool(command=("cat",))}, mcp={"files": McpServer(command=("cat",))})
    async with upstream(replying(answer(b"theirs"))) as there, sidecar(("/", there.url), config=config) as port:
        said = [
            await exchange(port, f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
            for path in ("/", "/paste/v1/")
        ]
    assert said[0].endswith(b"theirs")
    shown = json.loads(said[1].partition(b"\r\n\r\n")[2])["paths"]
    assert {"/", "/mcp/files", "/paste/v1/sessions/SESSION/tools/look"} <= shown.keys()


@pytest.mark.parametrize("path", ["/", "/paste/v1/", "/metrics", "/paste/v1/stats", "/paste/v1/sessions"])
async def test_a_name_that_someone_else_pointed_here_reads_nothing(path: str) -> None:
    raw = await get(path, host="rebound.evil.example")
    assert raw.startswith(b"HTTP/1.1 403 ")
    assert b"foreign_host" in raw


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1", "[::1]:8377", "app.localhost"])
async def test_loopback_names_are_ours(host: str) -> None:
    assert (await get("/paste/v1/stats", host=host)).startswith(b"HTTP/1.1 200 ")


def test_bound_to_the_network_addresses_are_ours_and_strange_names_are_not() -> None:
    own = own_hosts("sidecar.internal")
    assert all(own(name) for name in ("sidecar.internal", "SIDECAR.internal", "10.1.2.3", "fe80::1", "localhost"))
    assert not own("evil.example")
    assert not own_hosts("127.0.0.1")("10.1.2.3")


async def test_a_session_named_by_bytes_that_are_no_text_is_shown() -> None:
    body = b'{"messages":[{"role":"user","content":"x"}]}'
    async with upstream(replying(answer(b"{}"))) as there:
        config = Config(llm=(LlmRoute(path="/v1", upstream=there.url),))
        runner = app_runner(build_app(config, await asyncio.to_thread(compose, config)))
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        port = runner.addresses[0][1]
        await exchange(port, post("/v1/chat/completions", body, b"x-paste-session: a\xff"))
        seen = await exchange(port, b"GET /paste/v1/sessions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        await runner.cleanup()
    assert json.loads(seen.partition(b"\r\n\r\n")[2])[0]["turns"] == 1  # a reader that takes half a surrogate pair


async def test_a_host_that_is_no_text_is_refused_in_json() -> None:
    async with sidecar() as port:
        raw = await exchange(port, b"GET /metrics HTTP/1.1\r\nHost: \xff\r\nConnection: close\r\n\r\n")
    assert raw.startswith(b"HTTP/1.1 403 ")


async def test_of_a_request_that_is_no_http_neither_content_nor_traceback_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with sidecar() as port:
        raw = await exchange(port, b"GET / HTTP/1.1\r\nAuthorization: Bearer sk-secret\x01\r\n\r\n")
    assert raw.startswith(b"HTTP/1.0 400 ")
    assert "127.0.0.1" in caplog.text
    assert "sk-secret" not in caplog.text
    assert "Traceback" not in caplog.text
