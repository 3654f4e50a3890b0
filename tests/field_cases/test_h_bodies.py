"""Field cases of kind H: bodies that are coded, large, or not to be looked into."""

import asyncio
import gc
import gzip
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import pytest

from tests.field_cases.samples import SAMPLES, Sample, dumped
from tests.field_cases.world import cuts, observing, wires
from tests.proxy.llm_world import (
    PATIENCE_S,
    STREAM_HEAD,
    NotingGate,
    Seen,
    answer,
    chunked,
    connect,
    exchange,
    post,
    replying,
    sidecar,
    upstream,
)
from tests.proxy.test_serve import routed, served

EACH = pytest.mark.parametrize("sample", wires(), ids=lambda sample: sample.wire)


def bare_deflate(plain: bytes) -> bytes:
    squeezer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return squeezer.compress(plain) + squeezer.flush()


def zstd(plain: bytes) -> bytes:
    packed: bytes = import_module("backports.zstd").compress(plain)
    return packed


def br(plain: bytes) -> bytes:
    packed: bytes = import_module("brotli").compress(plain)
    return packed


CODINGS: list[tuple[str, Callable[[bytes], bytes]]] = [
    ("gzip", gzip.compress),
    ("br", br),
    ("zstd", zstd),
    ("deflate", zlib.compress),
    ("deflate", bare_deflate),
]


CODED = pytest.mark.parametrize(("coding", "pack"), CODINGS, ids=["gzip", "br", "zstd", "deflate", "bare deflate"])


@CODED
@pytest.mark.parametrize("status", [b"200 OK", b"429 Too Many Requests", b"500 Internal Server Error"])
async def test_b17_an_encoded_body_passes_as_it_is_and_the_observer_gets_it_plain(
    coding: str, pack: Callable[[bytes], bytes], status: bytes
) -> None:
    gate, packed = NotingGate(), pack(b'{"error":{"message":"no"}}' * 9)
    raw = answer(packed, b"Content-Encoding: " + coding.encode(), b"Content-Type: application/json", status=status)
    async with upstream(replying(raw)) as there, sidecar(("/v1", there.url), gate=gate) as port:
        got = await exchange(port, post("/v1/chat/completions", b"{}", b"Accept-Encoding: gzip, br, zstd, deflate"))
    head, _, body = got.partition(b"\r\n\r\n")
    assert body == packed
    assert b"Content-Encoding: " + coding.encode() in head
    assert b"Content-Length: %d" % len(packed) in head
    assert b"".join(gate.turns[0].chunks) == b'{"error":{"message":"no"}}' * 9
    assert gate.turns[0].clean is True


@EACH
@CODED
async def test_b17_an_encoded_stream_passes_cut_anywhere_and_its_turn_is_read(
    sample: Sample, coding: str, pack: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    packed = pack(sample.stream())
    head = STREAM_HEAD.replace(b"\r\n\r\n", b"\r\ncontent-encoding: " + coding.encode() + b"\r\n\r\n")
    several = [pieces for number, pieces in enumerate(cuts(packed)) if number % 97 == 0 and number]
    async with observing(tmp_path, sample.wire) as side, side.client() as client:
        for pieces in several:
            assert await client.ask(sample.target, sample.body, pieces, head=head) == packed
    turns = side.events("llm_turn")
    assert [turn["complete"] for turn in turns] == [True] * len(several)
    assert side.tally.faults == {}


@EACH
@pytest.mark.parametrize(("coding", "pack"), [("zstd", zstd), ("gzip", gzip.compress), ("br", br)])
async def test_b18_a_compressed_request_of_66_kb_goes_on_as_it_is_and_is_read(
    sample: Sample, coding: str, pack: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    body = sample.body[:-1] + b',"filler":"' + bytes(range(48, 92)) * 1_530 + b'"}'
    assert len(body) > 66_000
    packed = pack(body)
    async with observing(tmp_path, sample.wire) as side, side.client() as client:
        line = b"Content-Encoding: " + coding.encode() + b"\r\n"
        await client.ask(sample.target, packed, [sample.stream()], headers=line)
        assert side.there.seen[0].body == packed
        assert line.strip() in side.there.seen[0].header_lines
    assert [turn["complete"] for turn in side.events("llm_turn")] == [True]


def bomb() -> bytes:
    """A GiB of nothing in less than two KB."""
    squeezer = import_module("brotli").Compressor(quality=5)
    packed: bytes = b"".join(squeezer.process(bytes(2**20)) for _ in range(2**10)) + squeezer.finish()
    assert len(packed) < 2_000
    return packed


async def test_b18_a_bomb_is_forwarded_and_not_unpacked(tmp_path: Path) -> None:
    packed, sample = bomb(), SAMPLES["openai_chat"]
    async with observing(tmp_path) as side, side.client() as client:
        tracemalloc.start()
        await client.ask(sample.target, packed, [sample.stream()], headers=b"Content-Encoding: br\r\n")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert side.there.seen[0].body == packed
    assert side.events() == []
    assert side.tally.faults == {}
    assert peak < 64 * 2**20


@pytest.mark.parametrize("coding", [b"unheard-of", b"gzip, br", b"compress"])
async def test_b18_an_unknown_encoding_is_forwarded_and_not_observed(coding: bytes, tmp_path: Path) -> None:
    sample = SAMPLES["openai_chat"]
    async with observing(tmp_path) as side, side.client() as client:
        await client.ask(
            sample.target, b"\x1f\x9d\x90", [sample.stream()], headers=b"Content-Encoding: " + coding + b"\r\n"
        )
        assert side.there.seen[0].body == b"\x1f\x9d\x90"
    assert (side.events(), side.tally.faults) == ([], {})


async def test_b42_a_chunked_upload_with_the_model_behind_the_file_streams_through() -> None:
    """The upstream has the first part while the client has not sent the last."""
    file = bytes(range(256)) * 4_096 * 20
    first = b'--x\r\nContent-Disposition: form-data; name="file"\r\n\r\n' + file
    last = b'\r\n--x\r\nContent-Disposition: form-data; name="model"\r\n\r\nm\r\n--x--\r\n'
    got, half, gate = bytearray(), asyncio.Event(), NotingGate()

    async def receive(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        while size := int(await reader.readuntil(b"\r\n"), 16):
            got.extend((await reader.readexactly(size + 2))[:-2])
            if len(got) >= len(first):
                half.set()
        writer.write(answer(b"ok", b"Connection: close"))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(receive, "127.0.0.1", 0, limit=2**22)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with sidecar(("/v1", url), gate=gate) as port:
        reader, writer = await connect(port)
        head = (
            "POST /v1/audio/transcriptions HTTP/1.1\r\nHost: s\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n"
        )
        writer.write(head.encode() + b"Content-Type: multipart/form-data; boundary=x\r\n\r\n" + chunked(first, end=b""))
        await asyncio.wait_for(half.wait(), PATIENCE_S)
        writer.write(chunked(last))
        assert (await asyncio.wait_for(reader.read(), PATIENCE_S)).endswith(b"ok")
        writer.close()
    server.close()
    assert bytes(got) == first + last
    assert gate.turns[0].body is None


MEGABYTE = 2**20
_HOLD_S = 0.03
"""Processor time; what the loop is never held for, by the sidecar, its upstream and its clients together."""


@contextmanager
def holds() -> Iterator[list[float]]:
    """Processor seconds of each of the loop's callbacks: unlike its lag, the same on a busy machine."""
    took: list[float] = []
    run = asyncio.Handle._run

    def timed(handle: asyncio.Handle) -> None:
        begun = time.thread_time()
        run(handle)
        took.append(time.thread_time() - begun)

    gc.collect()
    gc.freeze()  # as `serve` does: what the tests before left is not looked through here
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asyncio.Handle, "_run", timed)
        yield took
    gc.unfreeze()


async def huge(_: Seen, writer: asyncio.StreamWriter) -> None:
    """An error of 100 MB."""
    writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: %d\r\n\r\n" % (100 * MEGABYTE))
    for _number in range(100):
        writer.write(bytes(MEGABYTE))
        await writer.drain()


async def drained(port: int, body: bytes) -> int:
    """Ask, and count the bytes of the answer without keeping them."""
    reader, writer = await connect(port)
    writer.write(post("/v1/chat/completions", body))
    got = 0
    while chunk := await asyncio.wait_for(reader.read(MEGABYTE), PATIENCE_S):
        got += len(chunk)
    writer.close()
    return got


def prompt(words: str) -> bytes:
    return dumped({"model": "m", "stream": True, "messages": [{"role": "user", "content": words}]})


PROMPTS = {
    "one of a million and a half tokens": (1, prompt("token " * 1_500_000)),
    "a hundred of a megabyte": (100, prompt("word " * (MEGABYTE // 5))),
}


@pytest.mark.slow
async def test_b35_an_error_of_100_mb_passes_without_holding_the_loop(tmp_path: Path) -> None:
    async with observing(tmp_path, script=huge) as side:
        with holds() as took:
            assert await drained(side.port, SAMPLES["openai_chat"].body) > 100 * MEGABYTE
    assert max(took) < _HOLD_S
    assert [turn["complete"] for turn in side.events("llm_turn")] == [False]


@pytest.mark.slow
@pytest.mark.parametrize("size", PROMPTS)
async def test_b35_large_prompts_are_read_off_the_loop(size: str, tmp_path: Path) -> None:
    number, body = PROMPTS[size]
    everybody, sample = asyncio.Barrier(number), SAMPLES["openai_chat"]

    async def together(_: Seen, writer: asyncio.StreamWriter) -> None:
        await everybody.wait()
        writer.write(STREAM_HEAD + chunked(sample.stream()))

    async with observing(tmp_path, script=together) as side:
        with holds() as took:
            asked = [exchange(side.port, post(sample.target, body)) for _number in range(number)]
            answers = await asyncio.gather(*asked)
            while side.tally.turns < number:  # noqa: ASYNC110 - the process apart reads on
                await asyncio.sleep(0.05)
    assert all(raw.endswith(b"0\r\n\r\n") for raw in answers)
    assert max(took) < _HOLD_S


@pytest.mark.slow
async def test_b35_the_memory_held_is_a_small_multiple_of_what_is_on_the_wire(tmp_path: Path) -> None:
    everybody = asyncio.Barrier(100)

    async def either(seen: Seen, writer: asyncio.StreamWriter) -> None:
        if len(seen.body) < MEGABYTE // 2:
            await huge(seen, writer)
            return
        await everybody.wait()
        writer.write(STREAM_HEAD + chunked(SAMPLES["openai_chat"].stream()))

    async with upstream(either) as there, served(routed(tmp_path, there.url)) as side:
        before = _peak_mb(side.process.pid)
        await drained(side.port, SAMPLES["openai_chat"].body)
        assert _peak_mb(side.process.pid) - before < 40
        body = PROMPTS["a hundred of a megabyte"][1]
        asked = [exchange(side.port, post("/v1/chat/completions", body)) for _number in range(100)]
        assert all(raw.endswith(b"0\r\n\r\n") for raw in await asyncio.gather(*asked))
        assert _peak_mb(side.process.pid) - before < 300, "three times what is on the wire"


def _peak_mb(pid: int) -> float:
    """The most memory that a process ever held."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))
