"""JSON-RPC messages as raw parts."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.wire.jsonrpc import (
    Batch,
    Notification,
    Request,
    Response,
    RpcMessage,
    Unreadable,
    on_one_line,
    read_message,
    refuse,
    respond,
)
from tests.wire.test_jsonspans import JSON


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b'{"jsonrpc":"2.0","id":1,"method":"m"}', Request(b"1", "m", None)),
        (b' { "method" : "a\\/b", "params" : { "x" : 1 } , "id" : "1" } ', Request(b'"1"', "a/b", b'{ "x" : 1 }')),
        (b'{"method":"m","params":[],"new":0}', Notification("m", b"[]")),
        (b'{"id":1.0,"result":{"a":[ 1 ]}}', Response(b"1.0", b'{"a":[ 1 ]}', None)),
        (b'{"id":null,"error":{"code":-32000}}', Response(b"null", None, b'{"code":-32000}')),
        (b'{"id":2,"result":null}', Response(b"2", b"null", None)),
        (b'{"id":2,"result":{},"error":null}', Response(b"2", b"{}", None)),
        (b'[{"id":1,"method":"m"},{"method":"n"}]', Batch((Request(b"1", "m", None), Notification("n", None)))),
    ],
)
def test_a_message_is_read_with_its_parts_as_written(raw: bytes, message: RpcMessage) -> None:
    assert read_message(raw) == message


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"[]", b"[", b"1", b"{", b'{"id":1}', b'{"id":1,"result":1,"error":2}', b'{"result":1}', b'{"method":1}',
        b'{"id":1,"method":"m"',
    ],
)  # fmt: skip
def test_what_is_no_message_is_unreadable(raw: bytes) -> None:
    assert isinstance(read_message(raw), Unreadable)


def test_a_batch_in_a_batch_is_unreadable() -> None:
    inner = b'[{"method":"m"}]'
    read = read_message(b"[" + inner + b"," + inner[1:-1] + b"]")
    assert isinstance(read, Batch)
    assert isinstance(read.messages[0], Unreadable)
    assert read.messages[1] == Notification("m", None)


@pytest.mark.parametrize("id_raw", [b"1", b'"1"', b"1.0", b"12345678901234567890123", b'"\\u00e9"', b"null"])
def test_b31_an_answer_has_the_id_exactly_as_it_was_asked_and_the_result_byte_for_byte(id_raw: bytes) -> None:
    result = b'{"content": [ {"type":"text","text":"\\/ \\u00e9"} ],"n":1.0}'
    answer = respond(id_raw, result)
    assert read_message(answer) == Response(id_raw, result, None)
    assert json.loads(answer)["jsonrpc"] == "2.0"


def test_a_refusal_is_an_error_response() -> None:
    answer = json.loads(refuse(b'"x"', -32603, 'it "broke"'))
    assert answer == {"jsonrpc": "2.0", "id": "x", "error": {"code": -32603, "message": 'it "broke"'}}


@given(JSON)
def test_one_line_says_the_same(value: Any) -> None:
    line = on_one_line(json.dumps(value, indent=1).replace("\n", "\r\n").encode())
    assert line.count(b"\n") == 1
    assert json.loads(line) == value


@given(st.binary() | JSON.map(lambda value: json.dumps(value).encode()))
def test_nothing_raises(raw: bytes) -> None:
    read_message(raw)
