"""What is told of an answer: all of it, or as text the beginning of one that is very long."""

import pytest

from paste_proxy.events.result import OBSERVED_BYTES, ToolResult


@pytest.mark.parametrize(("body", "value"), [(b'{"a": 1}', {"a": 1}), (b"a line", "a line"), (b"\xff", "\ufffd")])
def test_an_answer_is_json_or_text(body: bytes, value: object) -> None:
    result = ToolResult(body=body)
    assert result.value() == result.observed() == value


def test_of_a_very_long_one_the_beginning_is_looked_at() -> None:
    longest = b'"' + b"x" * (OBSERVED_BYTES - 2) + b'"'
    assert ToolResult(body=longest).observed() == "x" * (OBSERVED_BYTES - 2)
    longer = ToolResult(body=b'["' + b"x" * OBSERVED_BYTES + b'"]')
    assert longer.observed() == '["' + "x" * (OBSERVED_BYTES - 2)
    assert longer.value() == ["x" * OBSERVED_BYTES]
