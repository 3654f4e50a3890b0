"""What HTTP allows and few send, sent through; and what the HTTP library below us cannot pass on, said so."""

import asyncio
import socket
import struct

import pytest

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
    upstream,
)

OK = answer(b"ok")
CLOSE = b"Host: s\r\nConnection: close\r\n"
GET = b"GET /v1/x HTTP/1.1\r\n" + CLOSE + b"\r\n"


async def sent(raw: bytes, reply: bytes = OK) -> tuple[Seen | None, bytes]:
    """What the upstream got of a raw request, and what the client got of its reply."""
    async with upstream(replying(reply)) as there, sidecar(("/", there.url)) as port:
        got = await exchange(port, raw)
        return (there.seen[0] if there.seen else None), got


def split(raw: bytes) -> tuple[list[bytes], bytes]:
    """Head lines but those on the connection itself, and the body."""
    head, _, body = raw.partition(b"\r\n\r\n")
    return [line for line in head.split(b"\r\n") if line != b"Connection: close"], body


class TestMethods:
    @pytest.mark.parametrize(
        "method", ["PROPFIND", "REPORT", "QUERY", "M-SEARCH", "PURGE", "TRACE", "LOCK", "LINK", "SEARCH", "MKCOL"]
    )
    async def test_methods_that_few_use_go_on_with_their_bodies(self, method: str) -> None:
        body = b"" if method == "TRACE" else b"body"
        seen, got = await sent(post("/v1/x", body).replace(b"POST", method.encode(), 1))
        assert seen is not None
        assert (seen.head.split(b" ")[0].decode(), seen.body) == (method, body)
        assert got.endswith(b"ok")

    @pytest.mark.parametrize("method", ["BREW", "get"])
    async def test_one_that_the_servers_parser_does_not_know_is_refused_and_not_forwarded(self, method: str) -> None:
        seen, got = await sent(GET.replace(b"GET", method.encode(), 1))
        assert seen is None
        assert got.split(b" ", 2)[1] == b"400"

    async def test_an_options_of_the_server_as_a_whole_has_no_route(self) -> None:
        seen, got = await sent(b"OPTIONS * HTTP/1.1\r\n" + CLOSE + b"\r\n")
        assert seen is None
        assert got.split(b" ", 2)[1] == b"404"

    async def test_head_keeps_the_length_of_what_it_does_not_send(self) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Length: 10\r\n\r\n"
        for method, reply in ((b"HEAD", head), (b"GET", head + b"0123456789")):
            _, got = await sent(GET.replace(b"GET", method), reply)
            assert split(got) == (head.rstrip().split(b"\r\n"), reply[len(head) :])


class TestTargets:
    @pytest.mark.parametrize(
        "target",
        [
            "/a?",
            "/a?b?c",
            "/a?b#c",
            "/a#c",
            "/?",
            "/a;b?c;d",
            "//a",
            "/a//?//",
            "/%2F%3a%zz",
            '/a\\b|c{d}^`"<>',
            "/a?=&&",
        ],
    )
    async def test_a_target_goes_on_as_it_stands(self, target: str) -> None:
        seen, _ = await sent(GET.replace(b"/v1/x", target.encode()))
        assert seen is not None
        assert seen.target.decode() == target

    @pytest.mark.parametrize("whole", ["http://s/v1/a?b", "HTTP://other:1/v1/a?b", "https://u:p@h/v1/a?b"])
    async def test_a_whole_url_means_its_path(self, whole: str) -> None:
        seen, got = await sent(GET.replace(b"/v1/x", whole.encode()))
        assert seen is not None
        assert (seen.target, got[-2:]) == (b"/v1/a?b", b"ok")

    async def test_bytes_that_no_target_may_hold_are_refused_and_not_forwarded(self) -> None:
        seen, got = await sent(GET.replace(b"/v1/x", "/v1/é".encode()))
        assert seen is None
        assert got.split(b" ", 2)[1] == b"400"


class TestHeaders:
    async def test_repeated_lines_stay_apart_and_in_order_both_ways(self) -> None:
        up = [b"Cookie: a=1", b"x-a: 1", b"Cookie: b=2", b"x-b: 1", b"x-a: 2"]
        down = [
            b"Set-Cookie: a=1; Expires=0",
            b"A: 1",
            b"set-cookie: b=2",
            b"a: 2",
            b"A: 3",
        ]
        seen, got = await sent(post("/v1/x", b"", *up), answer(b"ok", *down))
        assert seen is not None
        assert seen.header_lines[1:-1] == up
        assert split(got)[0][1:-1] == down

    async def test_headers_may_be_huge(self) -> None:
        line, many = b"X-Long: " + b"a" * 60_000, [b"X-%d: %d" % (n, n) for n in range(300)]
        seen, got = await sent(post("/v1/x", b"", line, *many), answer(b"ok", line, *many))
        assert seen is not None
        assert seen.header_lines[1:-1] == [line, *many]
        assert split(got)[0][1:-1] == [line, *many]

    @pytest.mark.parametrize("value", [b"", b"a\tb", b'"a,b"; q=0.1', "é😀".encode(), b"=?utf-8?b?w6k=?="])
    async def test_values_keep_their_bytes(self, value: bytes) -> None:
        seen, got = await sent(post("/v1/x", b"", b"X-V: " + value), answer(b"ok", b"X-V: " + value))
        assert seen is not None
        assert b"X-V: " + value in seen.header_lines
        assert b"X-V: " + value in split(got)[0]

    @pytest.mark.parametrize("reason", [b"OK", b"Totally Fine", b"", "Très bien".encode()])
    @pytest.mark.parametrize("status", [b"200", b"299", b"418", b"499", b"529", b"599"])
    async def test_status_and_reason_come_through(self, status: bytes, reason: bytes) -> None:
        _, got = await sent(GET, answer(b"ok", status=status + b" " + reason))
        assert got.startswith(b"HTTP/1.1 " + status + b" " + reason + b"\r\n")

    async def test_what_the_upstream_says_of_its_connection_is_not_said_of_ours(self) -> None:
        async with (
            upstream(replying(answer(b"ok", b"Connection: close, X-Hop", b"X-Hop: 1", b"Keep-Alive: 5"))) as there,
            sidecar(("/v1", there.url)) as port,
        ):
            reader, writer = await connect(port)
            for _number in range(2):
                writer.write(b"GET /v1/x HTTP/1.1\r\nHost: s\r\n\r\n")
                head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE_S)
                assert head == b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
                await reader.readexactly(2)
            writer.close()


class TestBodies:
    async def test_chunk_extensions_and_trailers_are_tolerated_both_ways(self) -> None:
        coded = b'3;name="a;b"\r\nabc\r\n0;last\r\nX-Trailer: 1\r\nX-More: 2\r\n\r\n'
        head = b"POST /v1/x HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTrailer: X-Trailer\r\n" + CLOSE + b"\r\n"
        reply = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Trailer\r\n\r\n" + coded
        seen, got = await sent(head + coded, reply)
        assert seen is not None
        assert (seen.body, joined(got)) == (b"abc", b"abc")

    @pytest.mark.parametrize("size", [0, 1, 2**16, 2**18, 2**18 + 1, 2**20])
    @pytest.mark.parametrize("framing", ["length", "chunked"])
    async def test_a_body_keeps_its_framing_and_its_bytes(self, framing: str, size: int) -> None:
        body = bytes(range(256)) * (size // 256) + bytes(size % 256)
        raw = post("/v1/x", body)
        if framing == "chunked":
            pieces = [body[at : at + 70_000] for at in range(0, size, 70_000)]
            raw = b"POST /v1/x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" + CLOSE + b"\r\n" + chunked(*pieces)
        seen, got = await sent(raw, answer(body))
        assert seen is not None
        assert (seen.body, split(got)[1]) == (body, body)
        assert (b"transfer-encoding: chunked" in seen.head.lower()) == (framing == "chunked")
        assert (b"content-length: %d\r\n" % size in seen.head.lower()) == (framing == "length")

    @pytest.mark.parametrize(
        "reply",
        [
            b"HTTP/1.1 204 No Content\r\nX: 1\r\n\r\n",
            b'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\n\r\n',
            b"HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        ],
    )
    async def test_an_answer_without_a_body_has_none_and_the_connection_goes_on(self, reply: bytes) -> None:
        async with upstream(replying(reply)) as there, sidecar(("/v1", there.url)) as port:
            reader, writer = await connect(port)
            for _number in range(3):
                writer.write(b"GET /v1/x HTTP/1.1\r\nHost: s\r\n\r\n")
                assert await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE_S) == reply
            writer.close()

    async def test_a_client_may_wait_for_the_continue_with_a_chunked_body_too(self) -> None:
        head = b"POST /v1/x HTTP/1.1\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n" + CLOSE + b"\r\n"
        async with upstream(replying(OK)) as there, sidecar(("/v1", there.url)) as port:
            reader, writer = await connect(port)
            writer.write(head)
            assert await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE_S) == b"HTTP/1.1 100 Continue\r\n\r\n"
            writer.write(chunked(b"late"))
            assert (await asyncio.wait_for(reader.read(), PATIENCE_S)).endswith(b"ok")
            writer.close()
            assert there.seen[0].body == b"late"
            assert b"expect" not in there.seen[0].head.lower()

    @pytest.mark.parametrize("code", [b"100 Continue", b"102 Processing", b"103 Early Hints"])
    async def test_interim_answers_do_not_disturb_the_final_one(self, code: bytes) -> None:
        """They end here: the client library below keeps them to itself."""
        _, got = await sent(GET, (b"HTTP/1.1 " + code + b"\r\nLink: </a>\r\n\r\n") * 3 + OK)
        assert split(got) == ([b"HTTP/1.1 200 OK", b"Content-Length: 2"], b"ok")


class TestOldHttp:
    async def test_an_old_client_gets_a_stream_that_ends_with_its_connection(self) -> None:
        raw = b"POST /v1/x HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}"
        seen, got = await sent(raw, STREAM_HEAD + chunked(b"data: 1\n\n", b"data: 2\n\n"))
        assert seen is not None
        assert seen.body == b"{}"
        assert split(got) == (
            [b"HTTP/1.0 200 OK", b"Content-Type: text/event-stream"],
            b"data: 1\n\ndata: 2\n\n",
        )

    @pytest.mark.parametrize("length", [b"", b"Content-Length: 6\r\n"])
    async def test_an_old_upstreams_answer_comes_through(self, length: bytes) -> None:
        async def old(_: Seen, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.0 200 OK\r\n" + length + b"\r\nall of")
            writer.close()

        async with upstream(old) as there, sidecar(("/v1", there.url)) as port:
            got = await exchange(port, GET)
        assert (split(got)[1] if length else joined(got)) == b"all of"


def reset(writer: asyncio.StreamWriter) -> None:
    linger = struct.pack("ii", 1, 0)
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    writer.transport.abort()


FRAMINGS = {
    "chunked": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
    "length": b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
    "until close": b"HTTP/1.1 200 OK\r\n\r\nhalf",
}

_NORMAL = ("until close", "EOF")


class TestBreaks:
    @pytest.mark.parametrize("client", [b"HTTP/1.1", b"HTTP/1.0"])
    @pytest.mark.parametrize(
        ("framing", "how"),
        [(framing, how) for framing in FRAMINGS for how in ("EOF", "reset") if (framing, how) != _NORMAL],
    )
    async def test_an_abnormal_end_is_abnormal_for_the_client_in_every_framing(
        self, framing: str, how: str, client: bytes
    ) -> None:
        received, gate = asyncio.Event(), NotingGate()

        async def breaking(_: Seen, writer: asyncio.StreamWriter) -> None:
            writer.write(FRAMINGS[framing])
            await received.wait()
            if how == "reset":
                reset(writer)
            writer.close()

        async with upstream(breaking) as there, sidecar(("/v1", there.url), gate=gate) as port:
            reader, writer = await connect(port)
            writer.write(post("/v1/x", b"{}").replace(b"HTTP/1.1", client, 1))
            got = await asyncio.wait_for(reader.readuntil(b"half"), PATIENCE_S)
            received.set()
            normal = True
            try:
                got += await asyncio.wait_for(reader.read(), PATIENCE_S)
                normal = _whole(got)
            except ConnectionResetError:
                normal = False
            writer.close()
        assert not normal
        assert gate.turns[0].clean is False

    async def test_a_client_that_closes_its_half_has_gone(self) -> None:
        """As for any server of this library: there is no telling a client that still listens from one that does not."""
        async with upstream(replying(b"")) as there, sidecar(("/v1", there.url)) as port:
            reader, writer = await connect(port)
            writer.write(post("/v1/x", b"{}"))
            await asyncio.wait_for(there.asked.wait(), PATIENCE_S)
            writer.write_eof()
            await asyncio.wait_for(there.gone.wait(), PATIENCE_S)
            assert await asyncio.wait_for(reader.read(), PATIENCE_S) == b""
            writer.close()


def _whole(raw: bytes) -> bool:
    """Whether a client takes the answer for complete."""
    head, _, body = raw.partition(b"\r\n\r\n")
    if b"chunked" in head:
        return body.endswith(b"0\r\n\r\n")
    return b"Content-Length: 9" not in head or len(body) == 9
