"""Canonical keys: equal exactly for invocations that ask for the same thing."""

import json
import unicodedata
from typing import Literal

import pytest
from hypothesis import given

from paste_proxy.events.invocation import Invocation, canonical_key, name_of, read_arguments, server_of
from paste_proxy.events.values import Json, loads
from tests.events.strategies import objects, texts, values

FORMS: tuple[Literal["NFC", "NFD"], ...] = ("NFC", "NFD")


def distinct(value: object) -> object:
    """A value whose Python equality is JSON identity: types and the sign of zero told apart."""
    match value:
        case dict():
            return ("object", frozenset((key, distinct(inner)) for key, inner in value.items()))
        case list():
            return ("array", tuple(distinct(inner) for inner in value))
        case float():
            return ("float", repr(value))
        case _:
            return (type(value).__name__, value)


@given(objects, objects)
def test_keys_are_equal_exactly_if_the_arguments_are(one: dict[str, Json], other: dict[str, Json]) -> None:
    assert (canonical_key("t", one) == canonical_key("t", other)) == (distinct(one) == distinct(other))


@given(values, values)
def test_even_close_values_are_told_apart(one: Json, other: Json) -> None:
    same = canonical_key("t", {"x": one}) == canonical_key("t", {"x": other})
    assert same == (distinct(one) == distinct(other))


@given(objects)
def test_the_order_of_fields_does_not_matter(arguments: dict[str, Json]) -> None:
    backwards = dict(reversed(arguments.items()))
    assert canonical_key("t", arguments) == canonical_key("t", backwards)


def test_the_order_of_nested_fields_does_not_matter_and_that_of_items_does() -> None:
    assert canonical_key("t", {"a": [{"x": 1, "y": 2}]}) == canonical_key("t", {"a": [{"y": 2, "x": 1}]})
    assert canonical_key("t", {"a": [1, 2]}) != canonical_key("t", {"a": [2, 1]})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1", "1.0"),
        ("1", '"1"'),
        ("1", "true"),
        ("0", "false"),
        ("0.0", "-0.0"),
        ("null", '"null"'),
        ("null", "false"),
        ('""', "null"),
        ("[]", "{}"),
        ("9007199254740993", "9007199254740992"),
        ("18446744073709551617", "18446744073709551616"),
        ("18446744073709551616", "18446744073709551616.0"),
        ("-9223372036854775809", "-9223372036854775808"),
        ('"\\u00e9"', '"e\\u0301"'),
        ('"\\ud83d"', '"\\ud83e"'),
        ('"\\ud83d"', '"\\\\ud83d"'),
        ('" a"', '"a"'),
    ],
)
def test_close_values_have_keys_of_their_own(one: str, other: str) -> None:
    keys = {Invocation("t", read_arguments(f'{{"x": {text}}}')).key for text in (one, other)}
    assert len(keys) == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1.0", "1.00"),
        ("100.0", "1e2"),
        ('"\\u00e9"', '"é"'),
        ('"\\ud83d\\ude00"', '"😀"'),
        ('"\\/"', '"/"'),
        ("12345678901234567890123", "12345678901234567890123"),
    ],
)
def test_two_spellings_of_one_value_have_one_key(one: str, other: str) -> None:
    assert canonical_key("t", read_arguments(f'{{"x":{one}}}')) == canonical_key(
        "t", read_arguments(f'{{ "x" : {other}}}')
    )


def test_unicode_is_not_normalised() -> None:
    composed, decomposed = (unicodedata.normalize(form, "café") for form in FORMS)
    assert composed in canonical_key("t", {"path": composed})
    assert canonical_key("t", {"path": composed}) != canonical_key("t", {"path": decomposed})


@pytest.mark.parametrize("raw", [None, "", "  \n", "null", " null ", "{}", " {} ", b"", b" ", b"null", b"{}", {}])
def test_absent_blank_and_null_arguments_are_an_empty_object(raw: str | bytes | dict[str, Json] | None) -> None:
    assert read_arguments(raw) == {}


@pytest.mark.parametrize("raw", ["[]", "7", '"{}"', "true", "[{}]", '{"a": 1', '{"a": }', '{"a": 1} x', "{'a': 1}"])
def test_what_is_not_one_whole_object_is_a_value_error(raw: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_arguments(raw)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
@pytest.mark.parametrize("beside", ["1", "1234567890123456789012", '"\\ud83d"'])
def test_a_number_that_json_does_not_have_is_a_value_error(number: str, beside: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_arguments(f'{{"x": {number}, "y": {beside}}}')


def test_of_a_repeated_field_the_last_counts() -> None:
    assert read_arguments('{"a": 1, "a": 2}') == {"a": 2}
    assert read_arguments('{"a": 1, "a": 1234567890123456789012}') == {"a": 1234567890123456789012}


@pytest.mark.parametrize(
    "arguments",
    [
        {"x": float("nan")},
        {"x": float("inf")},
        {"x": {1, 2}},
        {"x": b"y"},
        {1: "x"},
        {"x": {None: 1}},
        {"x": (1, 2)},
        [1],
        None,
    ],
)
def test_an_invocation_is_not_made_of_what_is_not_json(arguments: dict[str, Json]) -> None:
    with pytest.raises(ValueError, match=r"arguments of 't'"):
        Invocation("t", arguments)


def test_a_value_nested_beyond_reason_is_a_value_error() -> None:
    value: Json = None
    for _ in range(100_000):
        value = [value]
    with pytest.raises(ValueError, match="nested too deeply"):
        Invocation("t", {"x": value})


@given(texts, objects)
def test_a_key_can_always_be_written_as_utf8(tool: str, arguments: dict[str, Json]) -> None:
    assert canonical_key(tool, arguments).encode("utf-8")


def test_a_lone_surrogate_has_a_stable_key() -> None:
    cut = read_arguments('{"text": "\\ud83d"}')
    assert Invocation("t", cut).key == Invocation("t", dict(cut)).key
    assert read_arguments('{"text": "\ud83d"}') == cut


def test_a_long_key_is_short_and_still_tells_apart() -> None:
    one, other = canonical_key("t", {"x": "a" * 10_000 + "1"}), canonical_key("t", {"x": "a" * 10_000 + "2"})
    assert one != other
    assert len(one) < 100


def test_equality_of_invocations_is_equality_of_keys() -> None:
    assert Invocation("t", {"a": 1, "b": 2}) == Invocation("t", {"b": 2, "a": 1})
    assert Invocation("t", {"a": 1}) != Invocation("t", {"a": True})
    assert Invocation("t", {"a": 1}) != Invocation("u", {"a": 1})
    assert len({Invocation("t", {"a": 1}), Invocation("t", {"a": 1})}) == 1


@given(objects)
def test_arguments_read_from_text_have_the_key_of_the_value(arguments: dict[str, Json]) -> None:
    assert canonical_key("t", read_arguments(json.dumps(arguments))) == canonical_key("t", arguments)


@given(values)
def test_json_texts_are_read_as_the_standard_library_reads_them(value: Json) -> None:
    text = json.dumps(value)
    assert distinct(loads(text)) == distinct(json.loads(text))


@pytest.mark.parametrize(
    ("tool", "server", "name"),
    [("fs/read", "fs", "read"), ("read", "", "read"), ("a/b/c", "a", "b/c"), ("/read", "", "/read"), ("a/", "a", "")],
)
def test_a_tool_identity_has_a_server_and_a_name(tool: str, server: str, name: str) -> None:
    assert (server_of(tool), name_of(tool)) == (server, name)
