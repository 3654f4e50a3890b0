"""The body of the endpoint, and the names that a response goes by."""

import pytest

from paste_proxy.engines.vllm_plugin.asked import entries_of, response_key
from paste_proxy.engines.vllm_plugin.entries import Entry
from paste_proxy.errors import ClientFault


def test_a_body_is_a_list_of_entries_with_leases() -> None:
    look = b'{"name": "look", "params": {"city": "Oslo"}, "output": "rain"}'
    body = b"[" + look + b', {"name": "see", "output": "", "keep_alive": 5}]'
    assert entries_of(body, 100.0, 60.0) == [
        Entry(name="look", params={"city": "Oslo"}, output="rain", until=160.0),
        Entry(name="see", params=None, output="", until=105.0),
    ]


def test_an_entry_may_stand_alone_and_no_lease_is_longer_than_an_hour() -> None:
    assert [entry.until for entry in entries_of(b'{"name": "a", "output": "b", "keep_alive": 1e9}', 0.0, 60.0)] == [
        3_600.0
    ]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"[", "not JSON"),
        (b"[7]", "entry 0 is no object"),
        (b'[{"output": "b"}]', "entry 0: name"),
        (b'[{"name": "a", "output": "b"}, {"name": "a"}]', "entry 1: output"),
        (b'[{"name": "a", "output": "b", "params": [1]}]', "entry 0: params"),
        (b'[{"name": "a", "output": "b", "keep_alive": -1}]', "entry 0: keep_alive"),
        (b'[{"name": "a", "output": "b", "keep_alive": true}]', "entry 0: keep_alive"),
    ],
)
def test_a_body_that_is_none_is_refused_whole(body: bytes, why: str) -> None:
    with pytest.raises(ClientFault, match=why):
        entries_of(body, 0.0, 60.0)


def test_a_response_is_known_by_its_id_with_and_without_what_vllm_puts_before_it() -> None:
    assert response_key("chatcmpl-abc") == response_key("abc") == "abc"
