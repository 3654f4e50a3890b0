"""Field cases of kind H: headers, targets, ways and secrets."""

import asyncio
import socket
from pathlib import Path

import aiohttp
import pytest

from paste_proxy.config import Config, LlmRoute, McpServer
from tests.field_cases.samples import SAMPLES
from tests.field_cases.world import routing
from tests.proxy.llm_world import (
    Seen,
    answer,
    exchange,
    post,
    replying,
    sidecar,
    upstream,
)
from tests.proxy.test_serve import config as written
from tests.proxy.test_serve import refused, routed, served

SECRET = "sk-proj-Zq81mLx90PwTt44QvB7"
"""Looks like a key, is none."""


@pytest.mark.parametrize("after", [b"30", b"Wed, 21 Oct 2026 07:28:00 GMT", b"0.5"])
@pytest.mark.parametrize("status", [b"429 Too Many Requests", b"503 Service Unavailable", b"529 Overloaded"])
async def test_b26_what_says_when_to_try_again_comes_through_and_nothing_is_tried_for_the_client(
    status: bytes, after: bytes
) -> None:
    lines = (
        *(b"retry-after: " + after, b"Retry-After-Ms: 30000", b"x-ratelimit-limit-requests: 60"),
        *(
            b"x-ratelimit-reset-tokens: 6m0s",
            b"anthropic-ratelimit-tokens-reset: 2026-10-21T07:28:00Z",
            b"x-should-retry: true",
        ),
    )
    raw = answer(b'{"error":{}}', *lines, status=status)
    async with upstream(replying(raw)) as there, sidecar(("/v1", there.url)) as port:
        got = await exchange(port, post("/v1/chat/completions", b"{}"))
        assert len(there.seen) == 1
    assert got.startswith(b"HTTP/1.1 " + status + b"\r\n" + b"\r\n".join(lines) + b"\r\n")


PROXIES = ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy")


@pytest.mark.parametrize("no_proxy", [None, "localhost", "10.0.0.0/8", "*"])
@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
async def test_b40_a_loopback_upstream_is_never_asked_for_through_the_environments_proxy(
    no_proxy: str | None, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in PROXIES:
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    if no_proxy is not None:
        monkeypatch.setenv("NO_PROXY", no_proxy)
    async with upstream(replying(answer(b"ok"))) as there, sidecar(("/v1", f"http://{name}:{there.port}")) as port:
        assert (await exchange(port, post("/v1/x", b"{}"))).endswith(b"ok")


async def test_b40_a_route_may_name_a_proxy_of_its_own() -> None:
    async with upstream(replying(answer(b"by proxy"))) as between, upstream(replying(answer(b"direct"))) as there:
        routes = (
            LlmRoute(path="/far", upstream="http://model.invalid/v1", proxy=between.url),
            LlmRoute(path="/near", upstream=there.url),
        )
        async with routing(routes) as port:
            assert (await exchange(port, post("/far/x?y=%2F", b"{}"))).endswith(b"by proxy")
            assert (await exchange(port, post("/near/x", b"{}"))).endswith(b"direct")
        assert between.seen[0].target == b"http://model.invalid/v1/x?y=%2F"
        assert b"Host: model.invalid" in between.seen[0].header_lines
        assert len(between.seen) == 1


async def test_b40_so_may_an_mcp_server() -> None:
    said = answer(b'{"jsonrpc":"2.0","id":1,"result":{}}', b"Content-Type: application/json")
    async with upstream(replying(said)) as between:
        server = McpServer(url="http://mcp.invalid/mcp", proxy=between.url)
        async with routing((), Config(mcp={"x": server})) as port:
            raw = await exchange(port, post("/mcp/x", b'{"jsonrpc":"2.0","id":1,"method":"ping"}'))
        assert raw.endswith(b'"result":{}}')
        assert between.seen[0].target == b"http://mcp.invalid/mcp"


async def test_b40_a_proxy_that_refuses_is_told_apart_from_its_upstream() -> None:
    async with upstream(replying(answer(b"", status=b"407 Proxy Authentication Required"))) as between:
        routes = (LlmRoute(path="/v1", upstream="https://model.invalid", proxy=between.url),)
        async with routing(routes) as port:
            raw = await exchange(port, post("/v1/x", b"{}"))
        assert between.seen[0].head.startswith(b"CONNECT model.invalid:443 ")
    assert raw.startswith(b"HTTP/1.1 502 ")
    assert b"x-paste-error: proxy_refused" in raw


async def test_b40_a_proxy_that_is_gone_is_named_and_its_password_is_not() -> None:
    routes = (LlmRoute(path="/v1", upstream="http://model.invalid", proxy=f"http://me:{SECRET}@127.0.0.1:9"),)
    async with routing(routes) as port:
        raw = await exchange(port, post("/v1/x", b"{}"))
    assert raw.startswith(b"HTTP/1.1 502 ")
    assert b"127.0.0.1:9" in raw
    assert SECRET.encode() not in raw


@pytest.mark.parametrize("key", ["upstream", "proxy", "mcp url"])
async def test_b40_a_way_that_leads_back_to_the_sidecar_is_refused(key: str, tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    us, more = f"http://localhost:{port}", ""
    match key:
        case "upstream":
            text = f'[[llm]]\npath = "/v1"\nupstream = "{us}/v1"\n'
        case "proxy":
            text = f'[[llm]]\npath = "/v1"\nupstream = "http://a"\nproxy = "http://me:{SECRET}@localhost:{port}"\n'
        case _:
            text = f'[mcp.x]\nurl = "{us}/mcp/x"\n{more}'
    code, said = await refused("--config", str(written(tmp_path, text)), "--port", str(port), cwd=tmp_path)
    assert (code, "the sidecar itself" in said, SECRET in said) == (2, True, False)


@pytest.mark.parametrize("path", ["/v1/responses", "/v1/realtime?model=m"])
@pytest.mark.parametrize("refusal", [b"426 Upgrade Required", b"404 Not Found", b"401 Unauthorized"])
async def test_b41_an_upgrade_that_the_upstream_refuses_is_refused_once_in_its_own_words(
    path: str, refusal: bytes
) -> None:
    raw = answer(b'{"error":"no sockets here"}', b"Content-Type: application/json", b"X-Why: no", status=refusal)
    async with upstream(replying(raw)) as there, sidecar(("/v1", there.url + "/v1")) as port:
        lines = b"Host: s\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        got = await exchange(port, f"GET {path} HTTP/1.1\r\n".encode() + lines + b"Sec-WebSocket-Key: eA==\r\n\r\n")
        assert len(there.seen) == 1
        assert b"Upgrade: websocket" in there.seen[0].header_lines
        assert b"Sec-WebSocket-Key: eA==" in there.seen[0].header_lines
    assert got.startswith(b"HTTP/1.1 " + refusal + b"\r\nContent-Type: application/json\r\nX-Why: no\r\n")
    assert got.endswith(b'{"error":"no sockets here"}')


TARGETS = [
    "/v1beta/models/m-1:streamGenerateContent?alt=sse&key=a%2Fb",
    "/v1beta/models/m%3A1%2F2:generateContent?",
    "/v1/projects/p/locations/l/publishers/google/models/m:streamGenerateContent?alt=sse",
    "//v1//a///b",
    "/v1/a;b=1;c/d,e",
    "/v1/a?b?c=/d?",
    "/v1/%E2%82%AC/%zz/%2e%2e/./../x",
    '/v1/a|b{}"^`\\~',
    "/v1/?&&=&",
]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_b54_path_and_query_go_on_as_they_were_written(target: str, method: str) -> None:
    async with upstream(replying(answer(b"ok"))) as there, sidecar(("/", there.url)) as port:
        raw = post(target, b"").replace(b"POST", method.encode(), 1)
        assert (await exchange(port, raw)).endswith(b"ok")
        assert there.seen[0].target.decode() == target


async def test_b62_a_preflight_and_what_follows_it_are_the_upstreams_to_judge() -> None:
    async def judge(seen: Seen, writer: asyncio.StreamWriter) -> None:
        allowed = b"Origin: http://app.local" in seen.header_lines
        lines = (b"Access-Control-Allow-Origin: http://app.local", b"Vary: Origin") if allowed else ()
        if seen.head.startswith(b"OPTIONS"):
            writer.write(b"\r\n".join([b"HTTP/1.1 204 No Content", *lines]) + b"\r\n\r\n")
        else:
            writer.write(answer(b"{}", *lines, status=b"200 OK" if allowed else b"403 Forbidden"))

    ask = b"Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: x-api-key\r\n"
    async with upstream(judge) as there, sidecar(("/v1", there.url)) as port:
        for origin, status in ((b"http://app.local", b"200"), (b"http://evil.example", b"403")):
            line = b"Origin: " + origin
            before = b"OPTIONS /v1/x HTTP/1.1\r\nHost: s\r\nConnection: close\r\n" + line + b"\r\n" + ask + b"\r\n"
            preflight = await exchange(port, before)
            assert preflight.startswith(b"HTTP/1.1 204 ")
            assert (b"Access-Control-Allow-Origin: http://app.local" in preflight) == (status == b"200")
            got = await exchange(port, post("/v1/x", b"{}", line))
            assert got.split(b" ", 2)[1] == status
            assert b"evil" not in preflight + got


@pytest.mark.parametrize("path", ["/paste/v1/stats", "/paste/v1/sessions", "/metrics", "/healthz", "/"])
async def test_b62_our_own_pages_allow_no_other_origin(path: str) -> None:
    async with sidecar(("/v1", "http://127.0.0.1:9")) as port:
        for method in ("GET", "OPTIONS"):
            head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://evil.example\r\n"
            raw = await exchange(port, head.encode() + b"Connection: close\r\n\r\n")
            assert b"access-control" not in raw.lower()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
async def test_b66_a_host_that_others_reach_needs_to_be_meant(host: str, tmp_path: Path) -> None:
    code, said = await refused("--config", str(routed(tmp_path, "http://a", f'host = "{host}"')), cwd=tmp_path)
    assert (code, "--allow-remote" in said) == (2, True)


async def test_b67_no_secret_reaches_the_log_the_events_or_the_read_side(tmp_path: Path) -> None:
    kept, key, sample = tmp_path / "kept", SECRET.encode(), SAMPLES["openai_chat"]
    refusing = answer(b'{"error":"bad key %b"}' % key, b"Set-Cookie: s=" + key, status=b"401 No")
    lines = [b"Authorization: Bearer " + key, b"x-api-key: " + key, b"x-goog-api-key: " + key, b"Cookie: s=" + key]
    body = sample.body.replace(b"look \xc3", b"my key is %b \xc3" % key)
    assert key in body
    async with upstream(replying(refusing)) as there:
        routes = '[[llm]]\npath = "/dead"\nupstream = "http://127.0.0.1:9"\n'
        async with served(routed(tmp_path, there.url, f'recording = {{directory = "{kept}"}}\n' + routes)) as side:
            for target in (f"/v1/chat/completions?key={SECRET}", f"/dead/chat/completions?key={SECRET}"):
                raw = await exchange(side.port, post(target, body, *lines))
                assert raw.split(b" ", 2)[1] in (b"401", b"502")
            shown = await _pages(side.port)
            side.process.terminate()
            out, err = await side.process.communicate()
    assert key not in out + err + shown
    recorded = b"".join(file.read_bytes() for file in kept.rglob("*") if file.is_file())
    assert b'"llm_turn"' in recorded
    assert key not in recorded


async def _pages(port: int) -> bytes:
    shown = b""
    async with aiohttp.ClientSession() as http:
        for page in ("paste/v1/stats", "paste/v1/sessions", "metrics"):
            async with http.get(f"http://127.0.0.1:{port}/{page}") as answered:
                assert answered.status == 200
                shown += await answered.read()
    return shown


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_b67_a_redirect_is_passed_on_and_nobody_follows_it_with_the_key(status: int) -> None:
    async with upstream(replying(answer(b"never"))) as other:
        location = b"Location: " + other.url.encode() + b"/elsewhere"
        raw = answer(b"", location, status=b"%d Moved" % status)
        async with upstream(replying(raw)) as there, sidecar(("/v1", there.url)) as port:
            got = await exchange(port, post("/v1/x", b"{}", b"x-api-key: k"))
        assert got.startswith(b"HTTP/1.1 %d Moved\r\n" % status + location)
        assert other.seen == []
