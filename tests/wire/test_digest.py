"""Digests agree for one message that two languages have written."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.wire.digest import digest_text, message_digest, whole_arguments
from tests.wire.test_jsonspans import JSON


@pytest.mark.parametrize(
    ("sent", "by_javascript"),
    [
        ('{"x":1.0}', '{"x":1}'),
        ('{"x":1e5}', '{"x":100000}'),
        ('{"x":[{"y":-0.0}]}', '{"x":[{"y":0}]}'),
        ('{"x":-0}', '{"x":0}'),
        ('{"x":12345678901234567890}', '{"x":12345678901234567000}'),
        ('{"x":9007199254740993}', '{"x":9007199254740992}'),
        ('{"x":1e21,"y":1E-7}', '{"x":1e+21,"y":1e-7}'),
        ('{"x":0.1000}', '{"x":0.1}'),
        ('{"x":' + "9" * 400 + "}", '{"x":null}'),
    ],
)
def test_numbers_that_javascript_spells_anew_change_no_digest(sent: str, by_javascript: str) -> None:
    one, other = whole_arguments(sent), whole_arguments(by_javascript)
    assert one is not None
    assert other is not None
    assert one[1] == other[1]
    assert message_digest("user", "", [one[0]]) == message_digest("user", "", [other[0]])


def test_the_arguments_themselves_stay_exact() -> None:
    whole = whole_arguments('{"x":12345678901234567890,"y":1.0}')
    assert whole is not None
    assert repr(whole[0]) == "{'x': 12345678901234567890, 'y': 1.0}"


@given(JSON, JSON)
def test_what_is_not_the_same_number_is_told_apart(one: object, other: object) -> None:
    def kept(value: object) -> object:
        return json.loads(json.dumps(value), parse_int=float, parse_float=lambda text: float(text) + 0.0)

    same = json.dumps(kept(one), sort_keys=True) == json.dumps(kept(other), sort_keys=True)
    assert (digest_text(one) == digest_text(other)) is same  # type: ignore[arg-type]  # values of JSON


@pytest.mark.parametrize(("one", "other"), [(True, 1), (False, 0), ("1", 1), (None, 0), ([1], 1)])
def test_only_numbers_are_numbers(one: bool | str | list[int] | None, other: int) -> None:
    assert digest_text(one) != digest_text(other)  # type: ignore[arg-type]  # a list of JSON


@given(st.integers(300, 3_000))
def test_what_is_nested_beyond_reason_has_no_text(depth: int) -> None:
    value: list[object] = []
    for _ in range(depth * 10):
        value = [value]
    assert digest_text(value) == "?"  # type: ignore[arg-type]  # a list of JSON
