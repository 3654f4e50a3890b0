"""Turns that wait before an engine, through a whole sidecar: what their clients see meanwhile, and what they get."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import orjson
import pytest
from aiohttp import web
from structlog.testing import capture_logs

from paste_proxy.clock import SystemClock
from paste_proxy.config import Config
from paste_proxy.proxy.app import build_app
from paste_proxy.proxy.composition import Sidecar
from paste_proxy.proxy.hub.pacing_tally import GateState, GateTally
from paste_proxy.proxy.pacing import hold
from paste_proxy.proxy.server import app_runner
from tests.proxy.llm_world import (
    PATIENCE_S,
    STREAM_HEAD,
    Seen,
    Upstream,
    answer,
    chunked,
    connect,
    exchange,
    joined,
    post,
    upstream,
)
from tests.proxy.mcp.parts import until

ANSWER = b'data: {"id": "a", "choices": [{"index": 0, "delta": {"content": "x"}}]}\n\ndata: [DONE]\n\n'
STREAM = STREAM_HEAD + chunked(ANSWER)
CHAT = "/v1/chat/completions"


def asking(words: str, **more: Any) -> bytes:
    return orjson.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": words}], **more})


class Engine:
    """Answers when it is told to, with what it is told."""

    def __init__(self) -> None:
        self.asked: list[Seen] = []
        self._go = asyncio.Semaphore(0)
        self.says: bytes | None = STREAM
        """None: it hangs up."""

    async def __call__(self, seen: Seen, writer: asyncio.StreamWriter) -> None:
        self.asked.append(seen)
        await self._go.acquire()
        if self.says is None:
            writer.close()
            return
        writer.write(self.says)
        await writer.drain()

    def answers(self, times: int = 1) -> None:
        for _ in range(times):
            self._go.release()

    def words(self) -> list[str]:
        return [orjson.loads(seen.body)["messages"][0]["content"] for seen in self.asked]


@asynccontextmanager
async def paced(there: Upstream, **route: Any) -> AsyncIterator[tuple[int, Sidecar]]:
    """A sidecar before an engine that is given one turn at a time."""
    config = Config.model_validate(
        {
            "llm": ({"path": "/", "upstream": there.url, "engine": "one", **route},),
            "engines": {} if "rate_limits" in route else {"one": {"band": (1.0, 1.0)}},
        }
    )
    made = await asyncio.to_thread(Sidecar, config, SystemClock())
    runner = app_runner(build_app(config, made.parts()))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield runner.addresses[0][1], made
    finally:
        await runner.cleanup()


def account(made: Sidecar) -> tuple[GateTally, GateState]:
    ((_, tally, state),) = made.tally.gates()
    return tally, state


def begin(port: int, target: str, body: bytes) -> "asyncio.Task[bytes]":
    return asyncio.create_task(exchange(port, post(target, body, b"Content-Type: application/json")))


async def test_turns_go_one_after_the_other_and_their_answers_are_the_upstreams_own() -> None:
    engine = Engine()
    async with upstream(engine) as there, paced(there) as (port, made):
        first = begin(port, CHAT, asking("one"))
        await until(lambda: engine.asked)
        second = begin(port, CHAT, asking("two"))
        await until(lambda: account(made)[1].held)
        assert engine.words() == ["one"]
        engine.answers()
        raw = await first
        await until(lambda: len(engine.asked) == 2)
        engine.answers()
        assert joined(raw) == joined(await second) == ANSWER
        tally, state = account(made)
        assert (tally.admitted, tally.late, state.held) == (2, 0, 0)
        await until(lambda: not account(made)[1].running)
        assert engine.asked[1].body == asking("two")


async def test_a_stream_is_kept_alive_while_its_turn_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hold, "_BEATS_S", 0.01)
    engine = Engine()
    async with upstream(engine) as there, paced(there, hold_s=0.01) as (port, _):
        first = begin(port, CHAT, asking("one"))
        await until(lambda: engine.asked)
        reader, writer = await connect(port)
        writer.write(post(CHAT, asking("two"), b"Accept-Encoding: gzip"))
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE_S)
        assert b"200 OK" in head
        assert b"text/event-stream" in head
        await asyncio.wait_for(reader.readuntil(b": waiting\n\n\r\nb\r\n: waiting\n\n"), PATIENCE_S)
        engine.answers(2)
        rest = await asyncio.wait_for(reader.read(), PATIENCE_S)
        assert rest.endswith(b"\r\n" + chunked(ANSWER))
        assert b"gzip" not in engine.asked[1].head.lower()
        writer.close()
        await first


@pytest.mark.parametrize(
    ("target", "body", "sign"),
    [
        (CHAT, asking("two"), b": waiting\n\n"),
        ("/v1/messages", asking("two", max_tokens=1), b'event: ping\ndata: {"type": "ping"}\n\n'),
        ("/v1/responses", orjson.dumps({"model": "m", "input": "two", "stream": True}), b": waiting\n\n"),
    ],
)
async def test_a_refusal_of_the_upstream_is_told_in_the_stream(target: str, body: bytes, sign: bytes) -> None:
    engine = Engine()
    async with upstream(engine) as there, paced(there, hold_s=0.01) as (port, _):
        first = begin(port, CHAT, asking("one"))
        await until(lambda: engine.asked)
        reader, writer = await connect(port)
        writer.write(post(target, body))
        await asyncio.wait_for(reader.readuntil(sign), PATIENCE_S)
        engine.says = answer(b'{"error": {"message": "too long"}}', status=b"400 Bad Request")
        engine.answers(2)
        rest = await asyncio.wait_for(reader.read(), PATIENCE_S)
        assert b"too long" in rest
        assert rest.endswith(b"0\r\n\r\n")
        writer.close()
        await first


async def test_an_upstream_that_hangs_up_is_told_in_the_stream() -> None:
    engine = Engine()
    async with upstream(engine) as there, paced(there, hold_s=0.01) as (port, _):
        first = begin(port, CHAT, asking("one"))
        await until(lambda: engine.asked)
        reader, writer = await connect(port)
        writer.write(post(CHAT, asking("two")))
        await asyncio.wait_for(reader.readuntil(b": waiting"), PATIENCE_S)
        engine.says = None
        engine.answers(2)
        rest = await asyncio.wait_for(reader.read(), PATIENCE_S)
        assert b'data: {"error"' in rest
        writer.close()
        await asyncio.gather(first, return_exceptions=True)


@pytest.mark.parametrize(
    ("target", "body", "how"),
    [
        (CHAT, asking("two", stream=False), "keep-alive"),
        (CHAT, asking("two"), "silent"),
        ("/v1beta/models/m:streamGenerateContent?alt=sse", b'{"contents": []}', "keep-alive"),
    ],
)
async def test_nothing_is_said_where_nothing_can_be(target: str, body: bytes, how: str) -> None:
    engine = Engine()
    async with upstream(engine) as there, paced(there, hold_s=0.01, hold=how) as (port, made):
        first = begin(port, CHAT, asking("one"))
        await until(lambda: engine.asked)
        reader, writer = await connect(port)
        writer.write(post(target, body))
        await until(lambda: account(made)[1].held)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.read(1), 0.1)
        engine.answers(2)
        assert joined(await asyncio.wait_for(reader.read(), PATIENCE_S)) == ANSWER
        writer.close()
        await first


async def test_a_route_may_refuse_what_would_wait() -> None:
    engine = Engine()
    async with upstream(engine) as there, paced(there, hold_s=0.01, hold="refuse") as (port, made):
        first = begin(port, CHAT, asking("one"))
        await until(lambda: engine.asked)
        raw = await begin(port, CHAT, asking("two"))
        assert raw.startswith(b"HTTP/1.1 429 ")
        assert b"\r\nRetry-After: " in raw
        engine.answers()
        await first
        tally, state = account(made)
        assert (tally.turned_away, state.held, len(engine.asked)) == (1, 0, 1)


async def test_a_client_that_goes_takes_its_turn_with_it() -> None:
    engine = Engine()
    async with upstream(engine) as there, paced(there) as (port, made):
        first = begin(port, CHAT, asking("one"))
        await until(lambda: engine.asked)
        _, writer = await connect(port)
        writer.write(post(CHAT, asking("two")))
        await until(lambda: account(made)[1].held)
        writer.close()
        await until(lambda: account(made)[0].left)
        third = begin(port, CHAT, asking("three"))
        await until(lambda: account(made)[1].held)
        engine.answers(2)
        await asyncio.gather(first, third)
        assert engine.words() == ["one", "three"]


@pytest.mark.parametrize("body", [b"no JSON", b"{}", b""])
async def test_what_nobody_can_read_waits_and_goes_like_the_rest(body: bytes) -> None:
    engine = Engine()
    async with upstream(engine) as there, paced(there) as (port, made):
        first = begin(port, CHAT, asking("one"))
        await until(lambda: engine.asked)
        second = begin(port, CHAT, body)
        await until(lambda: account(made)[1].held)
        engine.answers(2)
        await asyncio.gather(first, second)
        assert engine.asked[1].body == body
        await until(lambda: account(made)[1].running == 0)


async def test_a_fault_of_ours_lets_the_turn_go(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine()

    def broken(*_: Any) -> None:
        raise ValueError("broken")

    async with upstream(engine) as there, paced(there) as (port, made):
        monkeypatch.setattr(made._engines.pacing, "_ready", broken)
        engine.answers(2)
        with capture_logs():
            assert joined(await begin(port, CHAT, asking("one"))) == ANSWER
            assert joined(await begin(port, CHAT, asking("two"))) == ANSWER
        assert made.tally.faults["hub"] == 2


async def test_a_hub_that_has_ended_lets_every_turn_go() -> None:
    engine = Engine()
    async with upstream(engine) as there, paced(there) as (port, made):
        first = begin(port, CHAT, asking("one"))
        await until(lambda: engine.asked)
        second = begin(port, CHAT, asking("two"))
        await until(lambda: account(made)[1].held)
        await made.hub.close()
        third = begin(port, CHAT, asking("three"))
        engine.answers(3)
        for each in (first, second, third):
            assert joined(await each) == ANSWER


async def test_large_requests_are_held_whole_and_larger_ones_pass() -> None:
    engine = Engine()
    async with upstream(engine) as there, paced(there) as (port, made):
        first = begin(port, CHAT, asking("one"))
        await until(lambda: engine.asked)
        large = asking("x" * 2**20)
        second = begin(port, CHAT, large)
        await until(lambda: account(made)[1].held)
        engine.answers(2)
        await asyncio.gather(first, second)
        assert engine.asked[1].body == large


async def test_the_limits_of_a_key_and_model_are_kept_to_by_all_who_use_them() -> None:
    engine = Engine()
    engine.says = STREAM_HEAD.replace(
        b"\r\n\r\n",
        b"\r\nx-ratelimit-limit-requests: 100\r\nx-ratelimit-remaining-requests: 0\r\n"
        b"x-ratelimit-reset-requests: 300s\r\n\r\n",
    ) + chunked(ANSWER)
    route = {"engine": None, "rate_limits": True, "hold_s": 0.01}
    async with upstream(engine) as there, paced(there, **route) as (port, made):
        engine.answers(10)
        await begin(port, CHAT, asking("one"))
        again = begin(port, CHAT, asking("two"))
        await until(lambda: account(made)[1].held)
        other_model = orjson.loads(asking("three")) | {"model": "other"}
        await begin(port, CHAT, orjson.dumps(other_model))
        with_key = post(CHAT, asking("four"), b"Authorization: Bearer other")
        await exchange(port, with_key)
        assert engine.words() == ["one", "three", "four"]
        again.cancel()
        await asyncio.gather(again, return_exceptions=True)


@pytest.mark.parametrize("coding", [b"", b"Content-Encoding: gzip\r\n"])
async def test_what_comes_whole_or_coded_is_told_in_a_stream_that_has_begun(coding: bytes) -> None:
    message = {"role": "assistant", "content": "hi", "tool_calls": [{"id": "c", "function": {"name": "f"}}]}
    whole = orjson.dumps({"id": "a", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
    engine = Engine()
    async with upstream(engine) as there, paced(there, hold_s=0.01) as (port, _):
        first = begin(port, CHAT, asking("one"))
        await until(lambda: engine.asked)
        reader, writer = await connect(port)
        writer.write(post(CHAT, asking("two")))
        await asyncio.wait_for(reader.readuntil(b": waiting"), PATIENCE_S)
        body = gzip.compress(whole) if coding else whole
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" + coding
        engine.says = head + b"Content-Length: %d\r\n\r\n" % len(body) + body
        engine.answers(2)
        rest = await asyncio.wait_for(reader.read(), PATIENCE_S)
        assert b"data: [DONE]" in rest
        assert b'"delta":{"role":"assistant","content":"hi","tool_calls":[{"index":0,"id":"c"' in rest
        writer.close()
        await first


async def test_the_engine_is_told_whose_turn_it_is_even_if_it_goes_at_once() -> None:
    engine = Engine()
    async with upstream(engine) as there, paced(there, tell_engine=True) as (port, _):
        engine.answers()
        await exchange(port, post(CHAT, asking("one"), b"x-paste-session: mine"))
        told = orjson.loads(engine.asked[0].body)["vllm_xargs"]
        assert told["paste_task"] == "mine"


async def test_a_model_named_in_the_history_is_not_the_one_that_is_asked() -> None:
    engine = Engine()
    engine.says = answer(b"{}", b"Retry-After: 300", status=b"429 Too Many Requests")
    history = orjson.dumps({"messages": [{"role": "user", "content": '{"model":"other"}'}], "model": "m"})
    async with upstream(engine) as there, paced(there, engine=None, rate_limits=True) as (port, made):
        engine.answers(3)
        await begin(port, CHAT, history)
        again = begin(port, CHAT, asking("two"))
        await until(lambda: account(made)[1].held)
        other = await begin(port, CHAT + "?key=another", asking("three"))
        assert other.startswith(b"HTTP/1.1 429")
        assert len(engine.asked) == 2
        again.cancel()
        await asyncio.gather(again, return_exceptions=True)
