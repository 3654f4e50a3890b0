"""Field cases of kind A: what vendors sign or mark for themselves passes byte for byte and disturbs no reader."""

import json
from pathlib import Path

import pytest

from paste_proxy.wire.protocols import WIRES
from tests.field_cases.samples import SAMPLES, Sample, dumped, framed, typed
from tests.field_cases.world import brief, everywhere, observing, read, wires
from tests.proxy.llm_world import answer, exchange, post, replying, sidecar, upstream

EACH = pytest.mark.parametrize("sample", wires(), ids=lambda sample: sample.wire)
BRANDED: dict[str, bytes] = {
    "openai_chat": rb'"content":[{"type":"text","text":"a\/b","cache_control":{"type":"x"},"x_new":{"z":1,"a":2}}]',
    "tagged_text": rb'"content":"\u00e9 \/ <tool_call>"',
    "openai_responses": rb'"content":[{"type":"input_text","text":"a\/b","x_new":{"z":1,"a":2}}]',
    "anthropic_messages": rb'"content":[{"type":"text","text":"a\/b","cache_control":{"type":"x"},"x_new":{"z":1}}]',
    "gemini": rb'"parts":[{"text":"a\/b","thoughtSignature":"c2ln","x_new":{"z":1,"a":2}}]',
}
"""A user's message with what a parser and a writer of JSON would not give back alike, by wire."""
ITEMS = {"openai_responses": "input", "gemini": "contents"}


def odd_body(wire: str) -> bytes:
    """A request with keys out of order, odd spaces, escapes, repeated and unknown keys."""
    items = ITEMS.get(wire, "messages").encode()
    tools = rb'"tools":[{"name":"look","defer_loading":true,"input_schema":{"zeta":1,"alpha":2},'
    tools += rb'"functionDeclarations":[{"name":"look","x":{"z":1,"a":2}}]}]'
    signed = rb'"thinking":"sp  aces \u00e9 \/ \ud83d\ude00","signature":"EqQB+/=="'
    return (
        rb'{ "zz_unknown" : [1.0, 1e2, -0, 12345678901234567890],  "model":"m" ,"stream":true,'
        + rb'"' + items + rb'":[{"role":"user",' + BRANDED[wire] + rb',"x_block":null},{"role":"assistant",' + signed
        + rb',"content":[{"type":"thinking",' + signed + rb'},{"type":"redacted_thinking","data":"\u0041=="}]}],'
        + tools + rb',"metadata":{"b":1,"a":2},"model":"m"}' + b"\r\n \n"
    )  # fmt: skip


@EACH
async def test_b19_b23_b59_a_request_goes_upstream_byte_for_byte_and_reads_all_the_same(
    sample: Sample, tmp_path: Path
) -> None:
    body = odd_body(sample.form)
    assert json.dumps(json.loads(body)).encode() != body
    async with observing(tmp_path, sample.wire) as side, side.client() as client:
        await client.ask(sample.target, body, [sample.stream()])
        assert side.there.seen[0].body == body
    request = WIRES[sample.wire].read_request(body, target=sample.target)
    assert request is not None
    assert len(side.events("llm_turn")) == 1


@EACH
@pytest.mark.parametrize("framing", ["length", "chunked", "large"])
async def test_b19_b23_b59_in_every_framing(sample: Sample, framing: str) -> None:
    body = odd_body(sample.form) + b" " * (300_000 if framing == "large" else 0)
    raw = post(sample.target, body)
    if framing == "chunked":
        head = f"POST {sample.target} HTTP/1.1\r\nHost: s\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
        raw = head.encode() + b"".join(b"%x\r\n%b\r\n" % (len(p), p) for p in (body[:7], body[7:])) + b"0\r\n\r\n"
    async with upstream(replying(answer(b"ok"))) as there, sidecar(("/", there.url)) as port:
        assert (await exchange(port, raw)).endswith(b"ok")
        assert there.seen[0].body == body


async def test_b20_signatures_come_through_in_their_order_and_unknown_deltas_are_nothing_special(
    tmp_path: Path,
) -> None:
    sample = SAMPLES["anthropic_messages"]
    odd = {"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": {"x": [1]}}}
    events = list(sample.events)
    events[5:5] = typed(odd)
    pieces = list(map(framed, events))
    async with observing(tmp_path) as side, side.client() as client:
        got = await client.ask(sample.target, sample.body, pieces)
    assert got == b"".join(pieces)
    order = [got.index(mark) for mark in (b"thinking_delta", b"citations_delta", b"signature_delta", b"tool_use")]
    assert order == sorted(order)
    (turn,) = side.events("llm_turn")
    assert (turn["complete"], [event["tool"] for event in side.events("call_sealed")]) == (True, ["look", "list"])
    plain, odd_end = everywhere(sample.wire, sample.stream()), everywhere(sample.wire, b"".join(pieces))
    assert odd_end == plain


async def test_b22_a_thought_signature_beside_a_call_stays_beside_it_and_parallel_calls_without_it_read(
    tmp_path: Path,
) -> None:
    sample = SAMPLES["gemini"]
    stream = sample.stream()
    assert b'"args":{"q":' in stream
    assert b'"thoughtSignature":"c2ln"' in stream
    async with observing(tmp_path) as side, side.client() as client:
        assert await client.ask(sample.target, sample.body, [stream]) == stream
        assert side.there.seen[0].body == sample.body, "the model's turn goes back as the client wrote it"
    end = everywhere(sample.wire, stream)
    assert [call.name for call in end.calls] == ["look", "list"]


@EACH
def test_b22_b59_a_turn_with_opaque_siblings_is_the_same_turn_streamed_and_whole(sample: Sample) -> None:
    end = everywhere(sample.wire, sample.stream())
    once = read(sample.wire, [dumped(sample.whole)], content_type="application/json")[1]
    assert (once.digest, once.text, brief(once.calls)) == (end.digest, end.text, brief(end.calls))


async def test_b43_every_header_but_hop_by_hop_ones_and_the_whole_query_go_on() -> None:
    lines = [
        *(b"anthropic-beta: a-2026-01-01,b-2026-02-02", b"anthropic-beta: c-2026-03-03", b"x-stainless-os: Linux"),
        *(b"x-api-key: k", b"anthropic-version: 2023-06-01", b"OpenAI-Beta: x=y", b"x-goog-user-project: p"),
        *(b"Origin: http://a", b"Mcp-Param-Q: =?base64?w6k=?=", b"Last-Event-ID: 4", b"X-Forwarded-For: 1.2.3.4"),
        *(b"Cookie: a=1; b=2", b"Via: 1.1 x", b"Traceparent: 00-1-2-01", b'If-None-Match: "x"', b"Range: bytes=0-1"),
    ]
    async with upstream(replying(answer(b"ok"))) as there, sidecar(("/", there.url)) as port:
        await exchange(port, post("/v1/messages?beta=true&beta=false&x=%2F+", b"{}", *lines))
        _, *got = there.seen[0].header_lines
        assert there.seen[0].target == b"/v1/messages?beta=true&beta=false&x=%2F+"
    assert got == [*lines, b"Content-Length: 2"]


def test_the_odd_bodies_cover_every_wire() -> None:
    assert {sample.form for sample in wires()} == set(BRANDED)
