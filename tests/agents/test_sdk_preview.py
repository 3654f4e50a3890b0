"""What the sidecar sees of a value."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given

from paste_proxy.agents.sdk_preview import preview, unfinished
from tests.agents.test_protocol import VALUES


class Rude:
    def __str__(self) -> str:
        raise RuntimeError("no")


class Polite:
    def __str__(self) -> str:
        return "polite"


@given(VALUES.filter(lambda value: not isinstance(value, str)))
def test_json_is_shown_as_json(value: object) -> None:
    assert json.loads(preview(value)) == value


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ('{"a": 1}', '{"a": 1}'),
        (KeyError("k"), "KeyError: 'k'"),
        ([Polite()], '["polite"]'),
        ({1: 2**70}, f'{{"1": {2**70}}}'),
        (datetime(2025, 1, 1, tzinfo=UTC), '"2025-01-01T00:00:00+00:00"'),
        ({(1, 2): 3}, "{}"),
        (Rude(), '"(Rude)"'),
    ],
)
def test_anything_is_shown_somehow(value: object, shown: str) -> None:
    assert preview(value) == shown


def test_a_preview_is_bounded() -> None:
    assert len(preview("x" * 100, longest=10)) == 10
    assert len(preview(["x" * 100, 2**70], longest=10)) == 10
    assert len(preview(ValueError("x" * 100), longest=10)) == 10


def test_a_value_that_holds_itself_is_shown() -> None:
    endless: list[object] = []
    endless.append(endless)
    assert preview(endless) == '"(list)"'


def test_a_promise_is_not_a_result() -> None:
    async def later() -> None: ...

    coroutine = later()
    assert unfinished(coroutine)
    coroutine.close()
    assert unfinished(number for number in range(1))
    assert not unfinished([1])
