"""Members and elements of a JSON text as raw bytes, against the standard library's parser."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.wire.jsonspans import elements, members

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=12
)
SPACE = st.text(" \t\r\n", max_size=3)


def spaced(value: Any, data: st.DataObject) -> str:
    """The value as JSON with white space wherever it may stand, strings escaped or not."""

    def gap() -> str:
        return data.draw(SPACE)

    if isinstance(value, dict):
        pairs = (f"{gap()}{json.dumps(k)}{gap()}:{gap()}{spaced(v, data)}{gap()}" for k, v in value.items())
        return "{" + (",".join(pairs) or gap()) + "}"
    if isinstance(value, list):
        return "[" + (",".join(f"{gap()}{spaced(v, data)}{gap()}" for v in value) or gap()) + "]"
    return json.dumps(value, ensure_ascii=data.draw(st.booleans()))


@given(st.dictionaries(st.text(), JSON, max_size=5), st.data())
def test_members_are_those_that_a_parser_finds(value: dict[str, Any], data: st.DataObject) -> None:
    text = (data.draw(SPACE) + spaced(value, data) + data.draw(SPACE)).encode("utf-8", "surrogatepass")
    found = members(text)
    assert found is not None
    assert {name: json.loads(span) for name, span in found.items()} == value
    assert list(found) == list(value)
    assert all(span == span.strip() and span in text for span in found.values())


@given(st.lists(JSON, max_size=5), st.data())
def test_elements_are_those_that_a_parser_finds(value: list[Any], data: st.DataObject) -> None:
    found = elements((data.draw(SPACE) + spaced(value, data)).encode("utf-8", "surrogatepass"))
    assert found is not None
    assert [json.loads(span) for span in found] == value


@given(JSON.filter(lambda value: not isinstance(value, dict)))
def test_what_is_no_object_has_no_members(value: Any) -> None:
    assert members(json.dumps(value).encode()) is None


@given(st.dictionaries(st.text(), JSON, min_size=1, max_size=3), st.data())
def test_a_cut_object_has_no_members(value: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(value).encode()
    assert members(text[: data.draw(st.integers(0, len(text) - 1))]) is None


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b'{"a"}',
        b'{"a":}',
        b'{"a":1,}',
        b'{"a":1]',
        b'{"a":1]"b":2}',
        b'{"a":1}x',
        b"{'a':1}",
        b'{"a" 1}',
        b'{"a":1 2}',
    ],
)
def test_a_broken_object_has_no_members(text: bytes) -> None:
    assert members(text) is None


@pytest.mark.parametrize("text", [b"", b"[", b"[1,]", b"[1}", b"[1]x", b"[,1]", b"[1 2]", b"[1}2]"])
def test_a_broken_array_has_no_elements(text: bytes) -> None:
    assert elements(text) is None


def test_the_last_of_two_equal_names_counts_as_for_the_parser() -> None:
    assert members(b'{"a":1,"\\u0061":2}') == {"a": b"2"}


def test_numbers_and_escapes_are_kept_as_written() -> None:
    text = b'{"n": 1.0e+2, "s": "\\/\\u00e9 \\"{", "o": {"b": [ 1,  2 ]}}'
    assert members(text) == {"n": b"1.0e+2", "s": b'"\\/\\u00e9 \\"{"', "o": b'{"b": [ 1,  2 ]}'}


@given(st.binary() | st.text('{}[]",:\\ a1').map(str.encode))
def test_no_bytes_raise(text: bytes) -> None:
    members(text)
    elements(text)


def test_depth_and_size_cost_no_recursion() -> None:
    deep = b'{"a":' * 20_000 + b"1" + b"}" * 20_000
    assert members(deep) == {"a": deep[5:-1]}
    long = b'{"a":"' + rb"\"{[\\" * 200_000 + b'"}'
    assert members(long) == {"a": long[5:-1]}
