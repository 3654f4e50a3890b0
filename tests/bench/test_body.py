from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.bench.body import AnswerBody


def fed(wire: bytes, cuts: list[int]) -> tuple[AnswerBody, list[bool]]:
    answer, complete = AnswerBody(), []
    places = sorted({0, len(wire), *(cut % (len(wire) + 1) for cut in cuts)})
    for start, end in pairwise(places):
        answer.feed(wire[start:end])
        complete.append(answer.complete)
    return answer, complete


@given(st.lists(st.binary(min_size=1, max_size=40)), st.lists(st.integers(0, 10_000)))
def test_a_chunked_body_is_the_same_wherever_the_wire_is_cut(chunks: list[bytes], cuts: list[int]) -> None:
    head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    wire = head + b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"
    answer, complete = fed(wire, cuts)
    assert answer.body == b"".join(chunks)
    assert complete[-1]
    assert not any(complete[:-1])


@given(st.binary(max_size=60), st.lists(st.integers(0, 10_000)))
def test_a_sized_body_is_the_same_wherever_the_wire_is_cut(body: bytes, cuts: list[int]) -> None:
    answer, complete = fed(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body, cuts)
    assert answer.body == body
    assert complete[-1]
