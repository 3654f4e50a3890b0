"""Warnings of upstreams that do not answer."""

import asyncio

from structlog.testing import capture_logs

from paste_proxy.clock import FakeClock
from paste_proxy.config import Config, DispatchTool, McpServer
from paste_proxy.proxy.composition import forwarding_only
from paste_proxy.proxy.outages import Outages
from tests.proxy.llm_world import Seen, answer, exchange, post, replying, sidecar, upstream

NOBODY = "http://127.0.0.1:9"


def test_an_upstream_is_warned_of_once_in_a_while_and_what_was_left_out_is_counted() -> None:
    clock = FakeClock()
    outages = Outages(clock, quiet_s=60.0)
    with capture_logs() as lines:
        for _ in range(5):
            outages.warn("http://a", "gone")
        outages.warn("http://b", "gone")
        clock.advance(60.0)
        outages.warn("http://a", "gone")
        outages.warn("http://a", "gone")
    said = [(line["upstream"], line["more_since_last_warning"]) for line in lines]
    assert said == [("http://a", 0), ("http://b", 0), ("http://a", 4)]
    assert {line["log_level"] for line in lines} == {"warning"}


async def test_an_llm_that_is_not_there_is_warned_of_and_its_answers_are_not() -> None:
    body = b'{"secret": 1}'
    async with upstream(replying(answer(b"no", status=b"500 Oh"))) as there:
        with capture_logs() as lines:
            async with sidecar(("/off", f"{NOBODY}/v1"), ("/on", there.url)) as port:
                said = [await exchange(port, post("/off/chat?key=secret", body)) for _ in range(2)]
                await exchange(port, post("/on/chat", body))
    assert all(b"check the route's `upstream`" in one for one in said)
    (warned,) = [line for line in lines if line["log_level"] == "warning"]
    assert (warned["event"], warned["upstream"]) == ("upstream_failed", NOBODY)
    assert "secret" not in str(warned)


async def test_an_upstream_that_breaks_off_before_it_answers_is_warned_of() -> None:
    async def closing(_: Seen, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with upstream(closing) as there:
        with capture_logs() as lines:
            async with sidecar(("/v1", there.url)) as port:
                await exchange(port, post("/v1/chat", b"{}"))
    assert [line["upstream"] for line in lines if line["log_level"] == "warning"] == [there.url]


async def failed(config: Config, target: str, body: bytes) -> tuple[bytes, list[str]]:
    """What the client is answered, and whom a warning names."""
    routes = forwarding_only(config).routes
    with capture_logs() as lines:
        async with sidecar(config=config, more=routes) as port:
            said = await exchange(port, post(target, body, b"Content-Type: application/json"))
    return said, [line["upstream"] for line in lines if line["log_level"] == "warning"]


async def test_an_mcp_server_that_is_not_there_is_warned_of_and_the_key_named() -> None:
    config = Config(mcp={"web": McpServer(url=f"{NOBODY}/mcp")})
    said, warned = await failed(config, "/mcp/web", b'{"jsonrpc":"2.0","id":1,"method":"initialize"}')
    assert b"check the server's `url`" in said
    assert warned == [NOBODY]


async def test_a_program_that_cannot_be_started_or_dies_is_warned_of() -> None:
    for command in (("no-such-program",), ("sh", "-c", "read line; exit 3")):
        config = Config(mcp={"files": McpServer(command=command)})
        _, warned = await failed(config, "/mcp/files", b'{"jsonrpc":"2.0","id":1,"method":"initialize"}')
        assert warned == ["mcp files"]


async def test_a_configured_tool_that_is_not_there_is_warned_of() -> None:
    config = Config(tools={"look": DispatchTool(url=f"{NOBODY}/look")})
    said, warned = await failed(config, "/paste/v1/sessions/s/tools/look", b"{}")
    assert said.startswith(b"HTTP/1.1 502 ")
    assert warned == ["tool look"]
