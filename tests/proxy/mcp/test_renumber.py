"""Ids made unique for a shared server, and put back."""

import json

from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.proxy.mcp.ids import id_key
from paste_proxy.proxy.mcp.renumber import progress_token, put_back, renumbered, subscription
from paste_proxy.wire.jsonrpc import Notification, Request, read_message

IDS = st.integers() | st.text(max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3)
)
MEMBERS = st.dictionaries(st.text(max_size=8), VALUES, max_size=4)


@given(IDS, IDS | st.none(), MEMBERS, MEMBERS)
def test_a_request_goes_out_under_its_number_and_is_else_the_same(
    own: int | str, token: int | str | None, params: dict[str, object], meta: dict[str, object]
) -> None:
    meta = {name: value for name, value in meta.items() if name != "progressToken"}
    if token is not None:
        meta["progressToken"] = token
    sent = {"jsonrpc": "2.0", "id": own, "method": "tools/call", "params": {**params, "_meta": meta}}
    got = json.loads(renumbered(json.dumps(sent).encode(), b"41"))
    assert got["id"] == 41
    assert got["params"]["_meta"].get("progressToken") == (None if token is None else 41)
    got["id"] = own
    if token is not None:
        got["params"]["_meta"]["progressToken"] = token
    assert got == sent


@given(IDS, IDS, MEMBERS)
def test_what_comes_back_has_the_client_s_own_id_and_token(
    own: int | str, token: int | str, result: dict[str, object]
) -> None:
    own_raw, token_raw = json.dumps(own).encode(), json.dumps(token).encode()

    def back(message: dict[str, object]) -> dict[str, object]:
        got: dict[str, object] = json.loads(put_back(json.dumps(message).encode(), b"41", own_raw, token_raw))
        return got

    assert back({"id": 41, "result": result}) == {"id": own, "result": result}
    assert back({"method": "notifications/progress", "params": {"progressToken": 41, "progress": 1}}) == {
        "method": "notifications/progress",
        "params": {"progressToken": token, "progress": 1},
    }
    name = "io.modelcontextprotocol/subscriptionId"
    assert back({"method": "x", "params": {"_meta": {name: 41, "o": 1}}}) == {
        "method": "x",
        "params": {"_meta": {name: own, "o": 1}},
    }


def test_values_keep_their_bytes() -> None:
    raw = b'{"id" : 1, "jsonrpc":"2.0","method":"m","params":{ "a": [1.0,  2e3], "e":"\\u00e9"}}'
    assert renumbered(raw, b"7") == (
        b'{"id":7,"jsonrpc":"2.0","method":"m","params":{ "a": [1.0,  2e3], "e":"\\u00e9"}}'
    )


def test_tokens_and_subscriptions_are_found() -> None:
    request = read_message(b'{"id":1,"method":"m","params":{"_meta":{"progressToken":"t"}}}')
    assert isinstance(request, Request)
    assert progress_token(request) == b'"t"'
    told = read_message(b'{"method":"m","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":3}}}')
    assert isinstance(told, Notification)
    assert subscription(told.params_raw) == b"3"


@given(IDS)
def test_an_id_is_the_same_however_it_is_written(own: int | str) -> None:
    assert id_key(json.dumps(own).encode()) == id_key(
        json.dumps(own, ensure_ascii=False).encode("utf-8", "surrogatepass")
    )


def test_a_number_is_not_the_string_of_it() -> None:
    assert id_key(b"1") != id_key(b'"1"')
