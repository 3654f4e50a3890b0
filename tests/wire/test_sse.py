"""The event stream decoder."""

import json
from itertools import chain, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.wire.sse import SseDecoder, SseEvent
from tests.wire.streams import cuts


def decoded(chunks: list[bytes], limit: int = 1 << 20) -> list[SseEvent]:
    decoder = SseDecoder(limit)
    events = list(chain.from_iterable(decoder.feed(chunk) for chunk in chunks))
    last = decoder.close()
    return [*events, last] if last else events


STREAM = (
    b": hello\n\n"
    b'data: {"x":"\xc3\xa9\xf0\x9f\x98\x80"}\n\n'
    b'data:{"choices":[]}\n\n'
    b"event: ping\nid: 7\ndata: one\ndata:  two\ndata\n\n"
    b"id: 8\n\n\n\n"
    b"data:[DONE]\n\n"
)
EVENTS = [
    SseEvent("message", '{"x":"é😀"}'.encode()),
    SseEvent("message", b'{"choices":[]}'),
    SseEvent("ping", b"one\n two\n", "7"),
    SseEvent("message", b"[DONE]"),
]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"], ids=["LF", "CRLF", "CR"])
def test_b09_b10_b11_events_are_the_same_wherever_the_stream_is_cut_and_whatever_ends_its_lines(end: bytes) -> None:
    stream = STREAM.replace(b"\n", end)
    for chunks in cuts(stream):
        assert decoded(chunks) == EVENTS


@given(st.lists(st.sampled_from([b"\n", b"\r\n", b"\r"]), min_size=1), st.lists(st.integers(0, 200)))
def test_b10_line_ends_may_be_mixed(ends: list[bytes], at: list[int]) -> None:
    lines = STREAM.split(b"\n")
    stream = b"".join(line + ends[n % len(ends)] for n, line in enumerate(lines))
    borders = [0, *sorted(at), len(stream)]
    unambiguous = stream.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    assert decoded([stream[a:b] for a, b in pairwise(borders)]) == decoded([unambiguous])


def test_b10_an_event_is_given_with_its_last_byte_without_waiting_for_the_next() -> None:
    decoder = SseDecoder(100)
    assert decoder.feed(b"data: a\r\n\r") == [SseEvent("message", b"a")]
    assert decoder.feed(b"\ndata: b\r\n\r\n") == [SseEvent("message", b"b")]


def test_b14_only_cr_and_lf_end_a_line() -> None:
    text = 'data: {"content":"a\u2028b\u2029c\u0085d\u000be"}\n\n'.encode()
    assert decoded([text]) == [SseEvent("message", text[6:-2])]


def test_b45_the_last_event_counts_without_its_blank_line() -> None:
    for tail in (b"", b"\n", b"\r\n"):
        assert decoded([b"data: a\n\ndata: b" + tail]) == [SseEvent("message", b"a"), SseEvent("message", b"b")]
    assert decoded([b"data: a\n\n: bye"]) == [SseEvent("message", b"a")]


def test_a_byte_order_mark_is_no_part_of_the_first_field() -> None:
    for chunks in cuts(b"\xef\xbb\xbfdata: a\n\n"):
        assert decoded(chunks) == [SseEvent("message", b"a")]


def test_an_event_with_an_empty_data_line_is_an_event() -> None:
    assert decoded([b"id: x\ndata: \n\n"]) == [SseEvent("message", b"", "x")]


def test_beyond_the_limit_it_goes_deaf_instead_of_growing() -> None:
    stream = b"data: ok\n\ndata: " + b"x" * 95 + b"\n\ndata: after\n\n"
    for chunks in cuts(stream):
        assert decoded(chunks, limit=100) == [SseEvent("message", b"ok")]
    decoder = SseDecoder(100)
    for _ in range(50):
        decoder.feed(b"x" * 10)
    assert decoder.deaf
    assert decoder.close() is None


def test_the_largest_event_allowed_is_given() -> None:
    stream = b"data: " + b"x" * 94 + b"\n\n"
    for chunks in cuts(stream):
        assert decoded(chunks, limit=100) == [SseEvent("message", b"x" * 94)]


@given(st.lists(st.binary(max_size=40)), st.integers(1, 60))
def test_no_bytes_raise_and_chunking_never_matters(chunks: list[bytes], limit: int) -> None:
    assert decoded(chunks) == decoded([b"".join(chunks)])
    decoded(chunks, limit=limit)


@given(st.lists(st.dictionaries(st.text(max_size=5), st.text(max_size=8), max_size=3), max_size=5), st.data())
def test_json_events_come_out_as_they_were_written(values: list[dict[str, str]], data: st.DataObject) -> None:
    stream = b"".join(b"data: " + json.dumps(v, ensure_ascii=False).encode() + b"\n\n" for v in values)
    at = data.draw(st.integers(0, len(stream)))
    assert [json.loads(event.data) for event in decoded([stream[:at], stream[at:]])] == values
