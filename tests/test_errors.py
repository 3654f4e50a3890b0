"""What people and agents are shown of what was given in confidence."""

import pickle

import pytest

from paste_proxy.config import Config, LlmRoute
from paste_proxy.errors import InputFault, place_of
from paste_proxy.proxy.index import paths


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("https://api.x.com/v1", "https://api.x.com/v1"),
        ("http://me:pw@[::1]:9/look%20up?key=S#k=S", "http://[::1]:9/look%20up"),
        ("https://h?key=S", "https://h"),
        ("http://[::1", "(no address)"),
    ],
)
def test_an_address_is_shown_without_what_may_be_secret(address: str, place: str) -> None:
    assert place_of(address) == place


def test_the_index_shows_no_secret_of_an_upstream() -> None:
    config = Config(llm=(LlmRoute(path="/v1", upstream="https://me:pw@h/v1?key=S"),))
    assert paths(config)["/v1"] == "requests below go to https://h/v1"


def test_a_fault_can_be_told_by_another_process() -> None:
    fault = InputFault("there", "x" * 1_000, "less")
    told = pickle.loads(pickle.dumps(fault))
    assert (str(told), told.where, told.found, told.expected) == (str(fault), fault.where, fault.found, fault.expected)
