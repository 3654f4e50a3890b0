"""Field cases of kind L: clients that go, upstreams that break off, and the sidecar's own end."""

import asyncio
import signal
import socket
import struct
from pathlib import Path

import pytest

from tests.field_cases.samples import SAMPLES, Sample, framed
from tests.field_cases.world import everywhere, observing, read, wires
from tests.proxy.llm_world import (
    PATIENCE_S,
    STREAM_HEAD,
    Seen,
    chunked,
    connect,
    exchange,
    joined,
    post,
    until,
    upstream,
)
from tests.proxy.test_serve import routed, served

EACH = pytest.mark.parametrize("sample", wires(), ids=lambda sample: sample.wire)
PHASES = ("before the first byte", "in mid-stream", "in a whole answer")
OTHERS = {"/v1/embeddings": b'{"input":"x"}', "/v2/unheard-of": b"\x00\xff", "/v1/files": b"--x--"}
ROUTES = [(sample.wire, sample.target, sample.body) for sample in wires()]
ROUTES += [("auto", target, body) for target, body in OTHERS.items()]


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize(("wire", "target", "body"), ROUTES, ids=[f"{wire} {target}" for wire, target, _ in ROUTES])
async def test_b15_a_client_that_goes_takes_its_upstream_request_with_it(
    wire: str, target: str, body: bytes, phase: str, tmp_path: Path
) -> None:
    """And what was said up to there is in the log, and nothing is under way any more."""
    begun = framed(SAMPLES[wire].events[0]) if wire in SAMPLES else b"some"

    async def slow(_: Seen, writer: asyncio.StreamWriter) -> None:
        if phase == "in mid-stream":
            writer.write(STREAM_HEAD + chunked(begun, end=b""))
        if phase == "in a whole answer":
            head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n"
            writer.write(head + begun)

    async with observing(tmp_path, wire, script=slow) as side:
        reader, writer = await connect(side.port)
        writer.write(post(target, body))
        await until(side.there.asked)
        if phase != PHASES[0]:
            await asyncio.wait_for(reader.readuntil(begun), PATIENCE_S)
        writer.close()
        await until(side.there.gone)
        side.traffic.drain()
        await asyncio.wait_for(side.traffic.quiet(), PATIENCE_S)
    assert [turn["complete"] for turn in side.events("llm_turn")] == ([False] if wire in SAMPLES else [])
    assert side.tally.faults == {}


def reset(writer: asyncio.StreamWriter) -> None:
    linger = struct.pack("ii", 1, 0)
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    writer.transport.abort()


ENDS = {"EOF": b"", "reset": b"", "cut chunk": b"ff\r\nab", "cut chunk size": b"1", "bad chunk size": b"zz\r\n"}


@EACH
@pytest.mark.parametrize("how", ENDS)
async def test_b45_a_stream_that_breaks_off_breaks_off_for_the_client_and_its_turn_is_incomplete(
    sample: Sample, how: str, tmp_path: Path
) -> None:
    received, pieces = asyncio.Event(), [framed(event) for event in sample.events[:2]]

    async def cut(_: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(STREAM_HEAD + chunked(*pieces, end=b""))
        await received.wait()
        writer.write(ENDS[how])
        if how == "reset":
            reset(writer)
        writer.close()

    async with observing(tmp_path, sample.wire, script=cut) as side:
        reader, writer = await connect(side.port)
        writer.write(post(sample.target, sample.body))
        got = await asyncio.wait_for(reader.readuntil(pieces[1]), PATIENCE_S)
        received.set()
        got += await asyncio.wait_for(reader.read(), PATIENCE_S)
        writer.close()
    with pytest.raises(ValueError, match=r"breaks off|invalid literal"):
        joined(got)
    assert pieces[0] in got
    assert [turn["complete"] for turn in side.events("llm_turn")] == [False]
    assert side.events("call_sealed") == []


@EACH
async def test_b45_every_place_where_a_stream_can_break_leaves_its_turn_incomplete(sample: Sample) -> None:
    """Unless the stream had said that it is over."""
    stream = sample.stream()
    whole = read(sample.wire, [stream])[1]
    for at in range(len(stream)):
        end = read(sample.wire, [stream[:at]], clean=False)[1]
        assert not end.complete or end.calls == whole.calls, stream[at - 30 : at]


@EACH
async def test_b45_a_last_event_without_its_blank_line_is_passed_on_and_counts(sample: Sample, tmp_path: Path) -> None:
    for ending in (1, 2):
        stream = sample.stream()[:-ending]
        async with observing(tmp_path / str(ending), sample.wire) as side, side.client() as client:
            assert await client.ask(sample.target, sample.body, [stream[:-3], stream[-3:]]) == stream
        assert [turn["complete"] for turn in side.events("llm_turn")] == [True]
        assert everywhere(sample.wire, stream).complete


@EACH
@pytest.mark.parametrize("error", [b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error"}}\n\n'])
async def test_b45_an_error_in_the_stream_is_passed_on_and_its_turn_is_incomplete(
    sample: Sample, error: bytes, tmp_path: Path
) -> None:
    pieces = [*map(framed, sample.events[:2]), error]
    async with observing(tmp_path, sample.wire) as side, side.client() as client:
        assert await client.ask(sample.target, sample.body, pieces) == b"".join(pieces)
    assert [turn["complete"] for turn in side.events("llm_turn")] == [False]


async def test_b65_a_signal_lets_streams_end_and_closes_idle_ones_at_once(tmp_path: Path) -> None:
    """Readiness first, new work refused, the live turn to its end, the idle stream closed, then gone with 0."""
    go = asyncio.Event()

    async def both(seen: Seen, writer: asyncio.StreamWriter) -> None:
        if seen.head.startswith(b"GET /mcp"):
            writer.write(STREAM_HEAD + chunked(b": idle\n\n", end=b""))
            return
        writer.write(STREAM_HEAD + chunked(b"data: 1\n\n", end=b""))
        await go.wait()
        writer.write(chunked(b"data: 2\n\n"))

    async with upstream(both) as there:
        more = f'mcp = {{ x = {{ url = "{there.url}/mcp" }} }}'
        async with served(routed(tmp_path, there.url, more)) as side:
            listening, idle = await connect(side.port)
            idle.write(
                b"GET /mcp/x HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\nMcp-Session-Id: s\r\n\r\n"
            )
            await asyncio.wait_for(listening.readuntil(b": idle\n\n"), PATIENCE_S)
            reader, writer = await connect(side.port)
            writer.write(post("/v1/chat/completions", SAMPLES["openai_chat"].body))
            await asyncio.wait_for(reader.readuntil(b"data: 1\n\n"), PATIENCE_S)
            side.process.send_signal(signal.SIGTERM)
            await asyncio.wait_for(listening.read(), PATIENCE_S)  # closed while the turn still runs
            ready = b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            assert (await exchange(side.port, ready)).startswith(b"HTTP/1.1 503 ")
            assert (await exchange(side.port, post("/v1/x", b"{}"))).startswith(b"HTTP/1.1 503 ")
            go.set()
            assert (await asyncio.wait_for(reader.read(), PATIENCE_S)).endswith(b"data: 2\n\n\r\n0\r\n\r\n")
            assert await side.ended() == 0
            for stream in (idle, writer):
                stream.close()


async def test_b65_a_request_counts_until_its_body_has_ended(tmp_path: Path) -> None:
    sample = SAMPLES["openai_chat"]
    async with observing(tmp_path) as side, side.client() as client:
        asking = asyncio.ensure_future(client.ask(sample.target, sample.body, list(map(framed, sample.events))))
        await until(side.there.asked)
        assert side.traffic.live == 1
        await asking
    assert side.traffic.live == 0
