"""Reading the members of an object that is not whole yet, against the standard library's reader of whole ones."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from paste_proxy.events.values import canonical_text
from paste_proxy.wire.members import MemberReader

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)
objects = st.dictionaries(st.text(), values, max_size=5)
spaces = st.text(" \t\r\n", max_size=2)


def read(*pieces: str) -> dict[str, Any]:
    reader = MemberReader()
    for piece in pieces:
        reader.feed(piece)
    return reader.members


@st.composite
def written(draw: st.DrawFn) -> tuple[str, list[tuple[int, dict[str, Any]]]]:
    """An object's text, and from which character on which of its members are whole."""
    text, so_far, known = draw(spaces) + "{", dict[str, Any](), list[tuple[int, dict[str, Any]]]()
    members = draw(objects)
    for number, (name, value) in enumerate(members.items()):
        ascii_only = draw(st.booleans())
        text += draw(spaces) + json.dumps(name, ensure_ascii=ascii_only) + draw(spaces) + ":" + draw(spaces)
        text += json.dumps(value, ensure_ascii=ascii_only)
        whole_at, gap = len(text), draw(spaces)
        text += gap + ("," if number + 1 < len(members) else "}")
        so_far = {**so_far, name: value}
        known.append((whole_at if isinstance(value, str | list | dict) else whole_at + len(gap) + 1, so_far))
    return (text if members else text + "}"), known


@settings(deadline=None)
@given(sample=written(), data=st.data())
def test_at_every_cut_the_members_are_those_that_can_change_no_more(
    sample: tuple[str, list[tuple[int, dict[str, Any]]]], data: st.DataObject
) -> None:
    text, known = sample
    assert json.loads(text) == (known[-1][1] if known else {})
    reader, fed = MemberReader(), 0
    while fed < len(text):
        step = data.draw(st.integers(1, 6))
        reader.feed(text[fed : fed + step])
        fed = min(fed + step, len(text))
        expected = [members for at, members in known if at <= fed]
        assert canonical_text(reader.members) == canonical_text(expected[-1] if expected else {})


@settings(deadline=None)
@given(text=st.text('{}[]":,\\ \n0a') | objects.map(json.dumps), data=st.data())
def test_whatever_the_text_the_cuts_make_no_difference(text: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(text)))
    assert read(text) == read(text[:cut], text[cut:]) == read(*text)


@settings(deadline=None)
@given(st.text('{}[]":,\\ \n0a', max_size=40))
def test_of_a_text_that_is_an_object_nothing_is_missed(text: str) -> None:
    try:
        whole = json.loads(text)
    except ValueError:
        return
    assert read(text) == (whole if isinstance(whole, dict) else {})


def test_what_is_no_object_has_no_members() -> None:
    for text in ('["a": 1,', '"a": 1,', "x", "{{", '{"a": nope, "b": 1, ', "{1: 2, 3", ""):
        assert read(text) == {}


def test_a_broken_member_ends_the_reading_but_keeps_what_was_whole() -> None:
    assert read('{"a": "x", "b": 01, "c": "y", ') == {"a": "x"}


def test_a_repeated_name_has_its_last_value() -> None:
    assert read('{"a": 1, "a": 2, ') == {"a": 2}


def test_half_of_a_surrogate_pair_waits_for_the_other() -> None:
    assert read('{"a": "\ud83d', '\ude00", ') == {"a": "\U0001f600"}


def test_a_number_goes_on_until_something_follows_it() -> None:
    assert read('{"a": 1') == {}
    assert read('{"a": 1', "2,") == {"a": 12}
