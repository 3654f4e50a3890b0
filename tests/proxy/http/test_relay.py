"""The relay changes nothing but hop-by-hop headers, and passes faults on as they are."""

import asyncio
import gzip
import socket
import struct
from collections.abc import Iterator

import pytest
from aiohttp import ClientPayloadError, StreamReader
from aiohttp.base_protocol import BaseProtocol

from paste_proxy.proxy.http.breaks import next_chunk
from tests.proxy.llm_world import (
    PATIENCE_S,
    STREAM_HEAD,
    NotingGate,
    Seen,
    answer,
    chunked,
    connect,
    exchange,
    joined,
    post,
    replying,
    sidecar,
    until,
    upstream,
)

GET = b"GET /v1/%b HTTP/1.1\r\nHost: sidecar\r\nConnection: close\r\n\r\n"


async def through(reply: bytes, raw: bytes | None = None, gate: NotingGate | None = None) -> bytes:
    """What a client gets from an upstream that replies so."""
    async with upstream(replying(reply)) as there, sidecar(("/v1", there.url + "/v1"), gate=gate) as port:
        return await exchange(port, raw or post("/v1/chat/completions", b"{}"))


class TestRequests:
    async def test_b54_path_and_query_go_on_as_they_stood_on_the_wire(self) -> None:
        targets = [
            "/v1beta/models/gemini-2.5:streamGenerateContent?alt=sse&key=a%2Fb",
            "/v1/a%2Fb//c/%5Bd%5D/../e?x=%20+&x=2&y=[z]",
            "/v1",
            "/v1?beta=true",
        ]
        async with upstream(replying(answer(b"ok"))) as there, sidecar(("/", there.url)) as port:
            for target in targets:
                await exchange(port, post(target, b""))
            assert [seen.target.decode() for seen in there.seen] == targets

    async def test_b43_headers_keep_their_order_spelling_and_repetition(self) -> None:
        lines = [
            b"X-API-Key: secret",
            b"anthropic-beta: one,two",
            b"ANTHROPIC-VERSION: 2023-06-01",
            b"Anthropic-Beta: three",
            b"x-empty: ",
            b"Content-Type: application/json",
            b"Accept-Encoding: br;q=0.1",
            b"Authorization: Bearer k",
            b"X-Utf8: caf\xc3\xa9",
        ]
        async with upstream(replying(answer(b"ok"))) as there, sidecar(("/v1", there.url)) as port:
            await exchange(port, post("/v1/messages?beta=true", b"{}", *lines))
            host, *got = there.seen[0].header_lines
        assert host == b"Host: 127.0.0.1:%d" % there.port
        lines[3] = b"anthropic-beta: three"
        lines[4] = b"x-empty: "
        assert got == [*lines, b"Content-Length: 2"]

    async def test_hop_by_hop_headers_stay_here_with_those_that_connection_names(self) -> None:
        hops = [b"Keep-Alive: 5", b"TE: trailers", b"X-Hop: 1", b"Connection: x-hop, close", b"Proxy-Connection: x"]
        async with upstream(replying(answer(b"ok"))) as there, sidecar(("/v1", there.url)) as port:
            await exchange(port, post("/v1/x", b"", *hops))
            names = {line.partition(b":")[0].lower() for line in there.seen[0].header_lines}
        assert names == {b"host", b"content-length"}

    @pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE", "OPTIONS"])
    async def test_every_method_goes_on(self, method: str) -> None:
        async with upstream(replying(answer(b"ok"))) as there, sidecar(("/v1", there.url)) as port:
            raw = post("/v1/x", b"body").replace(b"POST", method.encode(), 1)
            assert (await exchange(port, raw)).endswith(b"\r\n\r\nok")
            assert there.seen[0].head.startswith(method.encode())
            assert there.seen[0].body == b"body"

    async def test_b62_an_options_preflight_is_answered_by_the_upstream(self) -> None:
        raw = b"OPTIONS /v1/x HTTP/1.1\r\nHost: s\r\nOrigin: http://a\r\nConnection: close\r\n\r\n"
        got = await through(answer(b"", b"Access-Control-Allow-Origin: http://a", status=b"204 No Content"), raw)
        assert got.startswith(b"HTTP/1.1 204 No Content\r\nAccess-Control-Allow-Origin: http://a\r\n")

    async def test_b42_a_chunked_multipart_upload_streams_through_untouched_and_unread(self) -> None:
        part = bytes(range(256)) * 4096
        pieces = [b"--x\r\n", *[part] * 20, b'\r\n--x\r\nContent-Disposition: form-data; name="model"\r\n\r\nm']
        head = (
            b"POST /v1/files HTTP/1.1\r\nHost: s\r\nConnection: close\r\n"
            b"Content-Type: multipart/form-data; boundary=x\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        gate = NotingGate()
        async with upstream(replying(answer(b"ok"))) as there, sidecar(("/v1", there.url), gate=gate) as port:
            assert (await exchange(port, head + chunked(*pieces))).endswith(b"ok")
            assert there.seen[0].body == b"".join(pieces)
        assert gate.turns[0].body is None

    async def test_a_client_that_expects_a_continue_gets_one_even_if_the_upstream_ignores_it(self) -> None:
        async with upstream(replying(answer(b"ok"))) as there, sidecar(("/v1", there.url)) as port:
            reader, writer = await connect(port)
            whole = post("/v1/x", b"late", b"Expect: 100-continue")
            writer.write(whole[:-4])
            assert await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE_S) == b"HTTP/1.1 100 Continue\r\n\r\n"
            writer.write(b"late")
            assert (await asyncio.wait_for(reader.read(), PATIENCE_S)).endswith(b"ok")
            writer.close()
            assert there.seen[0].body == b"late"

    @pytest.mark.parametrize("size", [0, 20_000, 10 * 2**20])
    async def test_the_observer_gets_the_same_body_as_the_upstream(self, size: int) -> None:
        gate = NotingGate()
        body = b"x" * size
        async with upstream(replying(answer(b"ok"))) as there, sidecar(("/v1", there.url), gate=gate) as port:
            await exchange(port, post("/v1/x", body))
            assert there.seen[0].body == body
        assert (gate.turns[0].body or b"") == body

    async def test_b18_a_compressed_request_goes_on_compressed_and_is_shown_plain(self) -> None:
        gate = NotingGate()
        packed = gzip.compress(b'{"model":"m"}' * 5000)
        async with upstream(replying(answer(b"ok"))) as there, sidecar(("/v1", there.url), gate=gate) as port:
            await exchange(port, post("/v1/x", packed, b"Content-Encoding: gzip"))
            await exchange(port, post("/v1/x", gzip.compress(bytes(2**23)), b"Content-Encoding: gzip"))
            await exchange(port, post("/v1/x", b"\x28\xb5\x2f\xfd", b"Content-Encoding: unheard-of"))
            assert there.seen[0].body == packed
        assert [turn.body for turn in gate.turns] == [b'{"model":"m"}' * 5000, None, None]

    async def test_b40_proxies_named_in_the_environment_are_not_used(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, "http://127.0.0.1:9")
        assert (await through(answer(b"ok"))).endswith(b"ok")


class TestAnswers:
    async def test_the_head_comes_through_with_nothing_added(self) -> None:
        head = (b"Zebra: 1", b"set-cookie: a=1", b"alpha: 2", b"Set-Cookie: b=2", b"X-Utf8: caf\xc3\xa9")
        raw = await through(answer(b"body", *head, status=b"418 I am a teapot"))
        lines = raw.partition(b"\r\n\r\n")[0].split(b"\r\n")
        assert lines == [
            *(b"HTTP/1.1 418 I am a teapot", *head, b"Content-Length: 4", b"Connection: close"),
        ]

    @pytest.mark.parametrize("status", [b"429 Too Many Requests", b"529 Overloaded"])
    async def test_b26_retry_headers_of_a_refusal_come_through(self, status: bytes) -> None:
        head = (b"retry-after: 30", b"retry-after-ms: 30000", b"x-ratelimit-reset: Wed, 21 Oct 2026 07:28:00 GMT")
        raw = await through(answer(b"{}", *head, status=status))
        assert b"\r\n".join(head) in raw
        assert raw.startswith(b"HTTP/1.1 " + status)

    @pytest.mark.parametrize("status", [b"200 OK", b"429 Too Many Requests", b"500 Internal Server Error"])
    @pytest.mark.parametrize("coding", [b"gzip", b"br", b"zstd", b"deflate"])
    async def test_b17_an_encoded_body_is_not_decoded(self, status: bytes, coding: bytes) -> None:
        packed = gzip.compress(b"plain")
        raw = await through(answer(packed, b"Content-Encoding: " + coding, status=status))
        assert raw.endswith(b"\r\n\r\n" + packed)
        assert b"Content-Encoding: " + coding in raw

    async def test_b17_the_observer_is_shown_an_encoded_stream_plain(self) -> None:
        gate = NotingGate()
        events = b"".join(b'data: {"n":%d}\n\n' % n for n in range(200))
        packed = gzip.compress(events)
        head = STREAM_HEAD.replace(b"\r\n\r\n", b"\r\ncontent-encoding: gzip\r\n\r\n")
        raw = await through(head + chunked(packed[:50], packed[50:]), gate=gate)
        assert joined(raw) == packed
        assert b"".join(gate.turns[0].chunks) == events
        assert gate.turns[0].clean is True

    async def test_b67_a_redirect_is_the_clients_to_follow(self) -> None:
        async with upstream(replying(answer(b"never"))) as other:
            raw = await through(answer(b"", b"Location: " + other.url.encode(), status=b"307 Temporary Redirect"))
            assert raw.startswith(b"HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:")
            assert other.seen == []

    async def test_head_and_empty_answers_keep_their_framing(self) -> None:
        head = GET.replace(b"GET", b"HEAD") % b"x"
        assert b"Content-Length: 999\r\n" in await through(b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n", head)
        raw = await through(b'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\n\r\n', GET % b"x")
        assert raw == b'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\nConnection: close\r\n\r\n'
        raw = await through(b"HTTP/1.1 204 No Content\r\n\r\n", GET % b"x")
        assert raw == b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"

    async def test_each_chunk_reaches_the_client_before_the_next_is_sent(self) -> None:
        turn = asyncio.Event()

        async def one_by_one(_: Seen, writer: asyncio.StreamWriter) -> None:
            writer.write(STREAM_HEAD)
            for number in range(20):
                writer.write(chunked(b"data: %d\r\n\r\n" % number, end=b""))
                await turn.wait()
                turn.clear()
            writer.write(b"0\r\n\r\n")

        async with upstream(one_by_one) as there, sidecar(("/v1", there.url)) as port:
            reader, writer = await connect(port)
            writer.write(post("/v1/x", b"{}"))
            for number in range(20):
                await asyncio.wait_for(reader.readuntil(b"data: %d\r\n\r\n\r\n" % number), PATIENCE_S)
                turn.set()
            assert await asyncio.wait_for(reader.read(), PATIENCE_S) == b"0\r\n\r\n"
            writer.close()

    @pytest.mark.parametrize(
        "events",
        [
            pytest.param(b'data: {"choices":[]}\n\ndata: {"x":1}\n\ndata: {"choices":[],"usage":{}}\n\n', id="B08"),
            pytest.param('data: {"x":"é😀"}\n\n'.encode(), id="B09"),
            pytest.param(b"data: a\r\n\r\ndata: b\r\rdata: c\n\n", id="B10"),
            pytest.param(b'data:{"choices":[]}\n\ndata:[DONE]\n\n', id="B11"),
            pytest.param('data: {"x":"a\u2028b\u0085"}\n\n'.encode(), id="B14"),
            pytest.param(b"data: no blank line at the end", id="B45"),
        ],
    )
    async def test_a_stream_comes_through_byte_for_byte_however_it_is_cut(self, events: bytes) -> None:
        gate = NotingGate()
        for pieces in _cuts(events):
            assert joined(await through(STREAM_HEAD + chunked(*pieces), gate=gate)) == events
        assert {b"".join(turn.chunks) for turn in gate.turns} == {events}


def _cuts(events: bytes) -> Iterator[list[bytes]]:
    yield [bytes([byte]) for byte in events]
    for at in range(1, len(events), 7):
        yield [events[:at], events[at:]]


class TestBrokenUpstreams:
    @pytest.mark.parametrize(
        "end",
        [pytest.param(b"", id="eof"), pytest.param(b"5\r\nab", id="in-a-chunk")],
    )
    async def test_b45_a_cut_stream_reaches_the_client_cut_and_whole_up_to_there(self, end: bytes) -> None:
        gate = NotingGate()

        async def cut(_: Seen, writer: asyncio.StreamWriter) -> None:
            writer.write(STREAM_HEAD + chunked(b"data: 1\n\n", b"data: 2\n\n", end=end))
            writer.close()

        async with upstream(cut) as there, sidecar(("/v1", there.url), gate=gate) as port:
            raw = await exchange(port, post("/v1/x", b"{}"))
        with pytest.raises(ValueError, match="breaks off"):
            joined(raw)
        assert b"data: 1\n\n" in raw
        assert b"data: 2\n\n" in raw
        assert gate.turns[0].clean is False

    async def test_b45_what_came_just_before_the_cut_is_not_lost(self) -> None:
        loop = asyncio.get_running_loop()
        content = StreamReader(BaseProtocol(loop), 2**16, loop=loop)
        content.feed_data(b"last words")
        content.set_exception(ClientPayloadError("cut"))
        assert await next_chunk(content) == (b"last words", True)

    async def test_b45_a_body_shorter_than_its_length_reaches_the_client_short(self) -> None:
        async def short(_: Seen, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
            writer.close()

        async with upstream(short) as there, sidecar(("/v1", there.url)) as port:
            raw = await exchange(port, post("/v1/x", b"{}"))
        assert b"Content-Length: 10\r\n" in raw
        assert raw.endswith(b"\r\n\r\nhalf")

    @pytest.mark.parametrize("client", [b"HTTP/1.1", b"HTTP/1.0"])
    async def test_b45_a_reset_of_an_answer_without_length_is_no_clean_end(self, client: bytes) -> None:
        received = asyncio.Event()

        async def reset(_: Seen, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\n\r\nhalf")
            await received.wait()
            linger = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            writer.transport.abort()

        async with upstream(reset) as there, sidecar(("/v1", there.url)) as port:
            reader, writer = await connect(port)
            writer.write(post("/v1/x", b"{}").replace(b"HTTP/1.1", client, 1))
            await asyncio.wait_for(reader.readuntil(b"half"), PATIENCE_S)
            received.set()
            if client == b"HTTP/1.1":
                assert b"0\r\n\r\n" not in await asyncio.wait_for(reader.read(), PATIENCE_S)
            else:
                with pytest.raises(ConnectionResetError):
                    await asyncio.wait_for(reader.read(), PATIENCE_S)
            writer.close()

    async def test_an_answer_without_length_that_just_ends_ends_clean(self) -> None:
        gate = NotingGate()

        async def until_eof(_: Seen, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.0 200 OK\r\n\r\nall of it")
            writer.close()

        async with upstream(until_eof) as there, sidecar(("/v1", there.url), gate=gate) as port:
            assert joined(await exchange(port, post("/v1/x", b"{}"))) == b"all of it"
        assert gate.turns[0].clean is True

    async def test_an_upstream_that_cannot_be_reached_is_named(self) -> None:
        with socket.socket() as held:
            held.bind(("127.0.0.1", 0))  # bound but not listening: nobody answers there, and nobody else can
            there = f"127.0.0.1:{held.getsockname()[1]}"
            async with sidecar(("/v1", f"http://{there}/v1")) as port:
                raw = await exchange(port, post("/v1/x?key=secret", b"{}", b"Authorization: Bearer secret"))
        assert raw.startswith(b"HTTP/1.1 502 ")
        assert b"x-paste-error: upstream_unreachable" in raw
        assert there.encode() in raw
        assert b"secret" not in raw

    async def test_a_post_that_may_have_arrived_is_never_sent_twice(self) -> None:
        async def close(_: Seen, writer: asyncio.StreamWriter) -> None:
            writer.close()

        async with upstream(close) as there, sidecar(("/v1", there.url)) as port:
            raw = await exchange(port, post("/v1/x", b"{}"))
            assert len(there.seen) == 1
        assert raw.startswith(b"HTTP/1.1 502 ")
        assert b"x-paste-error: upstream_closed" in raw

    async def test_a_get_on_a_connection_gone_stale_is_sent_again_on_a_fresh_one(self) -> None:
        async def second_time_only(seen: Seen, writer: asyncio.StreamWriter) -> None:
            if seen.target == b"/v1/again" and there.connections == 1:
                writer.close()
            else:
                writer.write(answer(b"ok"))

        async with upstream(second_time_only) as there, sidecar(("/v1", there.url + "/v1")) as port:
            await exchange(port, GET % b"first")
            assert (await exchange(port, GET % b"again")).endswith(b"ok")
            assert there.connections == 2

    async def test_what_is_not_http_is_a_bad_gateway(self) -> None:
        raw = await through(b"SSH-2.0-OpenSSH\r\n\r\n")
        assert raw.startswith(b"HTTP/1.1 502 ")
        assert b"x-paste-error: upstream_not_http" in raw


class TestClientsThatGo:
    @pytest.mark.parametrize("phase", ["before the first byte", "mid-stream", "in a whole answer"])
    async def test_b15_the_upstream_request_is_closed_too(self, phase: str) -> None:
        gate = NotingGate()

        async def endless(_: Seen, writer: asyncio.StreamWriter) -> None:
            if phase == "mid-stream":
                writer.write(STREAM_HEAD + chunked(b"data: 1\n\n", end=b""))
            if phase == "in a whole answer":
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome")

        async with upstream(endless) as there, sidecar(("/v1", there.url), gate=gate) as port:
            reader, writer = await connect(port)
            writer.write(post("/v1/x", b"{}"))
            await until(there.asked)
            if phase != "before the first byte":
                await asyncio.wait_for(reader.readuntil(b"1" if phase == "mid-stream" else b"some"), PATIENCE_S)
            writer.close()
            await until(there.gone)
            await until(gate.turns[0].over)
        assert gate.turns[0].clean is False
