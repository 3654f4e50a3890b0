"""Everything that reads outside bytes, each with its recordings and what must hold of what it gives."""

import gzip
import pickle
import zlib
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.values import Json
from paste_proxy.proxy.http.decoding import decoded, decoder
from paste_proxy.proxy.hub.reading import reading
from paste_proxy.proxy.mcp.renumber import progress_token, put_back, renumbered, subscription
from paste_proxy.tools.mcp_child import whole_lines
from paste_proxy.wire.jsonrpc import Batch, Request, Response, on_one_line, read_message
from paste_proxy.wire.jsonspans import elements, members
from paste_proxy.wire.mcp import Era, era_of, sse_message, tool_call, tool_result
from paste_proxy.wire.mcp_client import STATELESS_VERSION, Dialect
from paste_proxy.wire.mcp_tools import ListedTool, listed_tools, next_cursor
from paste_proxy.wire.protocols import WIRES
from paste_proxy.wire.sse import SseDecoder
from paste_proxy.wire.types import SeenCall, TurnEnd, Wire
from tests.field_cases.samples import SAMPLES, Sample, dumped
from tests.fuzz.mutations import pieces
from tests.fuzz.recordings import mcp_bodies, recorded

DIGEST_BYTES = 16
_EVENT_BYTES = 2**15
_DECODED_BYTES = 2**16

ERAS = tuple(Era)
_ODD: tuple[Json, ...] = (1, None, True, "\udc80", [1])
MCP_MESSAGES = (
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look","arguments":{"q":"\xc3\xa9"},'
    b'"_meta":{"progressToken":"t","callId":"call_0","sessionId":"s"}}}',
    b'{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"look","_meta":'
    b'{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/subscriptionId":4}}}',
    b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"found"}],"isError":false}}',
    b'{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","task":{"taskId":"x"}}}',
    b'{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"look","annotations":{"readOnlyHint":true},"inputSchema":'
    b'{"properties":{"q":{"type":"string","x-mcp-header":"Q"},"a":{"properties":{"b":{"x-mcp-header":"B"}}}}}}],'
    b'"nextCursor":"more"}}',
    b'{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"no"}}',
    b'[{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}},'
    b'{"jsonrpc":"2.0","id":9,"method":"ping"}]',
)

Check = Callable[[bytes, Random], None]
T = TypeVar("T")


@dataclass(frozen=True)
class Parser:
    """One reader of outside bytes."""

    name: str
    seeds: tuple[bytes, ...]
    check: Check
    """Reads the bytes; raises if the reader does, or gives what it must not."""


def parsers(recordings: Path | None = None) -> list[Parser]:
    """All of them.

    Args:
        recordings: a folder of recorded exchanges of real clients, to start from as well.
    """
    found = []
    for name, wire in WIRES.items():
        sample, real = SAMPLES[name], recorded(recordings, name)
        whole = (dumped(sample.whole), b'{"error":{"message":"no"}}')
        streams = (sample.stream(), sample.stream(b"\r\n"), *real.streams)
        found += [
            Parser(f"{name} request", (sample.body, *real.requests), partial(_request, wire, sample)),
            Parser(f"{name} stream", streams, partial(_answer, wire, "text/event-stream")),
            Parser(f"{name} whole", (*whole, *real.wholes), partial(_answer, wire, "application/json")),
            Parser(f"{name} unknown", (*streams, *whole), partial(_answer, wire, "")),
        ]
    messages = (*MCP_MESSAGES, *mcp_bodies(recordings))
    return [
        *found,
        Parser("sse", tuple(sample.stream() for sample in SAMPLES.values()), _events),
        Parser("mcp message", messages, _message),
        Parser("mcp spans", messages, _spans),
        Parser("mcp tools", messages, _tools),
        Parser("mcp lines", (b"\n".join(messages), *messages), _lines),
        *(Parser(f"coding {name}", seeds, partial(_coding, name)) for name, seeds in _codings().items()),
    ]


def _answer(wire: Wire, content_type: str, data: bytes, dice: Random) -> None:
    """Chunks make no difference, and what comes out is fit for the rest of the house."""
    clean = dice.random() < 0.7
    seen, end = _read(wire, content_type, [data], clean=clean)
    for call in (*seen, *end.calls):
        _fit_call(call)
    _fit_end(end)
    if dice.random() < 0.2:
        assert _read(wire, content_type, pieces(data, dice), clean=clean)[1] == end, "chunks made a difference"


def _read(wire: Wire, content_type: str, chunks: list[bytes], *, clean: bool) -> tuple[list[SeenCall], TurnEnd]:
    reader = wire.reader(content_type=content_type)
    seen: list[SeenCall] = []
    for chunk in chunks:
        seen += reader.feed(chunk)
        for part in reader.under_way():
            assert part.order >= 0
            assert Invocation(part.name, part.arguments).key.encode()
    return seen, reader.close(clean=clean)


def _fit_call(call: SeenCall) -> None:
    assert call.name.encode()
    assert isinstance(call.call_id.encode(), bytes)
    assert call.order >= 0
    assert Invocation(call.name, call.arguments).key.encode()


def _fit_end(end: TurnEnd) -> None:
    assert len(end.digest) in (0, DIGEST_BYTES)
    assert isinstance(end.text.encode() + end.response_id.encode() + (end.finish or "").encode(), bytes)
    assert all(count is None or type(count) is int for count in (end.input_tokens, end.output_tokens))
    assert type(end.complete) is bool
    assert len({call.order for call in end.calls}) == len(end.calls)


def _request(wire: Wire, sample: Sample, data: bytes, dice: Random) -> None:
    request = wire.read_request(data, target=dice.choice((sample.target, "", "/x?y=\udcff")))
    if request is None:
        return
    names = [request.model, request.session_hint or "", request.previous or "", *request.tools]
    assert isinstance("".join(names).encode(), bytes)
    for message in request.messages:
        assert len(message.digest) == DIGEST_BYTES
        assert isinstance(message.text.encode() + message.role.encode(), bytes)
        for call in message.calls:
            _fit_call(call)
        if message.output is not None:
            assert isinstance(message.output.call_id.encode(), bytes)
    assert pickle.loads(pickle.dumps(reading(request))) is not None


def _events(data: bytes, dice: Random) -> None:
    whole, cut = SseDecoder(_EVENT_BYTES), SseDecoder(_EVENT_BYTES)
    events = [*whole.feed(data), whole.close()]
    assert [*(event for piece in pieces(data, dice) for event in cut.feed(piece)), cut.close()] == events
    assert all(event.event.encode() and b"\r" not in event.data for event in events if event)


def _message(data: bytes, dice: Random) -> None:
    message = read_message(data)
    for single in message.messages if isinstance(message, Batch) else (message,):
        if isinstance(single, Response):
            result = tool_result(single.result_raw or b"")
            assert result is None or result.body == single.result_raw
            next_cursor(single.result_raw or b"")
        if isinstance(single, Request):
            era_of(single.params_raw)
            call = tool_call(single)
            if call is not None:
                assert Invocation(call.name, call.arguments).key.encode()
                assert isinstance(((call.call_id or "") + (call.session or "")).encode(), bytes)
            sent = renumbered(data, b"7")
            assert isinstance(put_back(sent, b"7", single.id_raw, progress_token(single)), bytes)
            subscription(single.params_raw)
    framed = SseDecoder(2 * len(data) + 100).feed(sse_message(data))
    assert b"".join(event.data for event in framed) == data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _spans(data: bytes, _: Random) -> None:
    """Parts of a message are spans of it."""
    for value in (members(data) or {}).values():
        assert value in data
        assert all(part in value for part in elements(value) or [])


def _tools(data: bytes, dice: Random) -> None:
    """What a server lists can be called, with headers that HTTP can carry."""
    message = read_message(data)
    result = message.result_raw if isinstance(message, Response) else data
    dialect = Dialect(era=dice.choice(ERAS), version=STATELESS_VERSION, client=("c", "1"), session_id="s")
    for tool in listed_tools(result or b"") or (ListedTool(name="t"),):
        odd: Json = dice.choice(_ODD)
        sent = dialect.call(1, tool, {"a": {"b": "é\n"}, "q": odd})
        assert all(value.isascii() and "\n" not in value for value in sent.headers.values())
        assert isinstance(read_message(sent.body), Request)


def _lines(data: bytes, dice: Random) -> None:
    class Pipe:
        def __init__(self) -> None:
            self._left = pieces(data, dice)

        async def read(self, _: int) -> bytes:
            return next((piece for _ in range(len(self._left)) if (piece := self._left.pop(0))), b"")

    lines = _now(_all(whole_lines(Pipe())))  # type: ignore[arg-type]  # it only reads
    assert b"".join(lines) == data
    assert all(b"\n" not in line[:-1] for line in lines)
    assert all(on_one_line(line).count(b"\n") == 1 for line in lines)


async def _all(lines: AsyncIterator[bytes]) -> list[bytes]:
    return [line async for line in lines]


def _now(work: Coroutine[Any, Any, T]) -> T:
    """Run what waits for nothing."""
    try:
        work.send(None)
    except StopIteration as over:
        result: T = over.value
        return result
    raise AssertionError("it waits for something")


def _coding(name: str, data: bytes, dice: Random) -> None:
    plain = decoded(data, name, _DECODED_BYTES)
    assert plain is None or len(plain) <= _DECODED_BYTES
    inner, shown = decoder(name), 0
    try:
        for piece in pieces(data, dice):
            shown += len(inner.decode(piece, _DECODED_BYTES)) if inner else 0
    except ValueError:
        pass
    assert shown <= 3 * (_DECODED_BYTES + 1)


def _codings() -> dict[str, tuple[bytes, ...]]:
    plain = [sample.stream() for sample in SAMPLES.values()] + [bytes(2 * _DECODED_BYTES)]
    packers: dict[str, Callable[[bytes], bytes]] = {
        "gzip": gzip.compress,
        "deflate": zlib.compress,
        "zstd": import_module("backports.zstd").compress,
        "br": import_module("brotli").compress,
    }
    return {name: tuple(pack(text) for text in plain) for name, pack in packers.items()}
