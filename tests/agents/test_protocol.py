"""The messages between an agent's process and the sidecar."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.agents import protocol
from paste_proxy.agents.protocol import FromAgent, FromSidecar
from paste_proxy.events.result import Status

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
NUMBER = st.integers(0)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
ARGUMENTS = st.dictionaries(TEXT, VALUES, max_size=4)
STATUS = st.sampled_from([*Status, None])
AGENT: st.SearchStrategy[FromAgent] = st.one_of(
    st.builds(protocol.Hello, version=NUMBER),
    st.builds(protocol.Offer, session=TEXT, tools=st.lists(TEXT).map(tuple)),
    st.builds(protocol.Leave, session=TEXT),
    st.builds(
        protocol.Call,
        call=NUMBER,
        session=TEXT,
        tool=TEXT,
        arguments=ARGUMENTS | st.none(),
        call_id=TEXT | st.none(),
        ahead=st.booleans(),
    ),
    st.builds(protocol.Done, call=NUMBER, status=STATUS, preview=TEXT),
    st.builds(protocol.Ended, job=NUMBER, status=STATUS, preview=TEXT),
)
SIDECAR: st.SearchStrategy[FromSidecar] = st.one_of(
    st.builds(protocol.Welcome, version=NUMBER),
    st.builds(protocol.Refusal, reason=TEXT),
    st.builds(protocol.Run, job=NUMBER, session=TEXT, tool=TEXT, arguments=ARGUMENTS),
    st.builds(protocol.Cancel, job=NUMBER),
    st.builds(protocol.Drop, job=NUMBER),
    st.builds(protocol.Wait, call=NUMBER, job=NUMBER),
    st.builds(protocol.Alone, call=NUMBER),
    st.builds(protocol.Use, call=NUMBER, job=NUMBER, outcome=st.sampled_from(["reused", "promoted"])),
)


@given(AGENT)
def test_what_an_agent_says_arrives(message: FromAgent) -> None:
    assert protocol.read_from_agent(protocol.encode(message)) == message


@given(SIDECAR)
def test_what_the_sidecar_says_arrives(message: FromSidecar) -> None:
    assert protocol.read_from_sidecar(protocol.encode(message)) == message


@given(st.text() | VALUES.map(json.dumps) | st.builds(dict, type=TEXT, call=VALUES).map(json.dumps))
def test_anything_else_is_no_message(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        protocol.read_from_agent(text)


def test_a_lone_surrogate_travels_as_a_question_mark() -> None:
    sent = protocol.Done(call=1, status=Status.OK, preview="a\ud800b")
    assert protocol.read_from_agent(protocol.encode(sent)) == protocol.Done(call=1, status=Status.OK, preview="a?b")


def test_a_wrong_field_is_named() -> None:
    with pytest.raises(ValueError, match=r"done\.call"):
        protocol.read_from_agent('{"type": "done", "call": "one", "status": null}')
