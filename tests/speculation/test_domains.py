"""Effect domains with places: which state one call means."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.errors import InputFault
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.values import Json
from paste_proxy.speculation.domains import meant, overlap, widest
from paste_proxy.speculation.effects import Effects
from paste_proxy.speculation.policy import Policy

ORDER = frozenset({"crm:orders:{order_id}"})


def call(**arguments: Json) -> Invocation:
    return Invocation("t", arguments)


@pytest.mark.parametrize(
    ("invocation", "domain"),
    [
        (call(order_id="A7"), "crm:orders:A7"),
        (call(order_id=7), "crm:orders:7"),
        (call(order_id="a:b/c"), "crm:orders:a%3Ab%2Fc"),
        (call(), "crm:orders"),
        (call(order_id=None), "crm:orders"),
        (call(order_id=["A7"]), "crm:orders"),
        (call(order_id=True), "crm:orders"),
        (call(order_id=""), "crm:orders"),
    ],
)
def test_a_place_is_filled_from_the_call_or_cut_off(invocation: Invocation, domain: str) -> None:
    assert meant(ORDER, "s", invocation) == {domain}


def test_a_session_may_have_state_of_its_own() -> None:
    mine = meant(frozenset({"shop:{session}"}), "alice", call())
    theirs = meant(frozenset({"shop:{session}"}), "bob", call())
    assert mine == {"shop:alice"}
    assert theirs == {"shop:bob"}
    assert not overlap(*mine, *theirs)


def test_an_argument_named_session_cannot_pose_as_one() -> None:
    assert meant(frozenset({"shop:{session}"}), "alice", call(session="bob")) == {"shop:alice"}


def test_an_unknown_tool_writes_all_that_places_could_mean() -> None:
    assert widest(["crm:orders:{order_id}", "shop:{session}:x", "web"]) == {"crm:orders", "shop", "web"}


@given(st.text(max_size=20), st.text(max_size=20))
def test_two_values_never_fill_a_place_alike(one: str, other: str) -> None:
    same = meant(ORDER, "s", call(order_id=one)) == meant(ORDER, "s", call(order_id=other))
    assert same == (one == other) or any("\ud800" <= character <= "\udfff" for character in one + other)


def test_a_policy_states_places_and_its_rulings_fill_them() -> None:
    policy = Policy.parse('[[rule]]\ntool = "get"\neffect = "read"\nreads = ["crm:{session}:orders:{order_id}"]', "p")
    ruling = policy.rule_for(Invocation("get", {}))
    assert ruling.read_by("s", Invocation("get", {"order_id": 7})) == {"crm:s:orders:7"}
    assert ruling.written_by("s", Invocation("get", {"order_id": 7})) == frozenset()


@pytest.mark.parametrize("domain", ["{session}", "crm:{}", "crm:{a b}", "crm:{a}b", "crm{a}"])
def test_a_place_stands_alone_between_colons_and_never_first(domain: str) -> None:
    with pytest.raises(InputFault, match="reads"):
        Policy.parse(f'[[rule]]\ntool = "get"\neffect = "read"\nreads = ["{domain}"]', "p")


def test_what_was_written_too_long_ago_to_remember_counts_as_moved() -> None:
    effects = Effects()
    before = effects.epoch
    effects.began(["first"])
    effects.ended(["first"])
    between = effects.epoch
    for number in range(10_000):
        effects.began([f"d{number}"])
        effects.ended([f"d{number}"])
    assert effects.moved(["first"], before)
    assert effects.moved(["never written"], between)
    assert not effects.moved(["first"], effects.epoch)
