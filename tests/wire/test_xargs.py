"""`vllm_xargs` in a request whose other bytes stay."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.events.values import Json
from paste_proxy.wire.xargs import with_xargs

TOLD: dict[str, Json] = {"paste_task": "s", "paste_gain": 1.5}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(), lambda inner: st.lists(inner), max_leaves=5
)


@given(st.dictionaries(st.text(), VALUES), st.text(" \t\r\n", max_size=3))
def test_nothing_else_changes(request: dict[str, object], after: str) -> None:
    if "vllm_xargs" in request:
        return
    body = orjson.dumps(request)
    told = with_xargs(body + after.encode(), TOLD)
    if b'"vllm_xargs"' in body:
        assert told is None
        return
    assert told is not None
    assert told.startswith(body[:-1])
    assert orjson.loads(told) == {**request, "vllm_xargs": TOLD}


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"vllm_xargs": {"a": 1}}', b'"{}"', b"no"])
def test_what_has_its_own_or_is_no_object_is_left(body: bytes) -> None:
    assert with_xargs(body, TOLD) is None
