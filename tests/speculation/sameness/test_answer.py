"""The text of an answer, and the answer with another text."""

import pytest

from paste_proxy.events.result import ToolResult
from paste_proxy.speculation.sameness.answer import text_of, with_text

ONE = '{"type":"text","text":"a\\nb"}'


def result(body: str, content_type: str = "application/json") -> ToolResult:
    return ToolResult(body=body.encode(), content_type=content_type, took_s=0.5)


@pytest.mark.parametrize(
    ("whole", "part"),
    [
        ('"a\\nb"', '"a"'),
        (f'{{"content":[{ONE}]}}', '{"content":[{"type":"text","text":"a"}]}'),
        (
            f'{{"isError":false,"structuredContent":{{"content":"a\\nb"}},"content":[{ONE}],"resultType":"complete"}}',
            '{"isError":false,"structuredContent":{"content":"a"},"content":[{"type":"text","text":"a"}],'
            '"resultType":"complete"}',
        ),
    ],
)
def test_only_the_text_changes(whole: str, part: str) -> None:
    assert text_of(result(whole)) == "a\nb"
    assert with_text(result(whole), "a") == result(part)
    assert with_text(result(whole), "a").took_s == 0.5


def test_a_plain_text_is_its_own_text() -> None:
    assert text_of(result('{"a": 1}\n', "text/plain")) == '{"a": 1}\n'
    assert with_text(result("a\nb", "text/plain; charset=utf-8"), "é").body == "é".encode()
    assert text_of(ToolResult(body=b"\xff", content_type="text/plain")) is None


@pytest.mark.parametrize(
    "body",
    [
        "",
        "a\nb",
        "7",
        '["a"]',
        ' "a"',
        '"\\u0061"',
        '"\\ud800"',
        f'{{"content": [{ONE}]}}',
        '{"content":[]}',
        f'{{"content":[{ONE},{ONE}]}}',
        '{"content":[{"type":"text","text":"a","annotations":{}}]}',
        '{"content":[{"type":"image","data":"a"}]}',
        f'{{"content":[{ONE}],"isError":true}}',
        f'{{"content":[{ONE}],"_meta":{{"lines":2}}}}',
        f'{{"content":[{ONE}],"structuredContent":{{"content":"other"}}}}',
        f'{{"content":[{ONE}],"structuredContent":{{"content":"a\\nb","lines":2}}}}',
        f'{{"content":[{ONE}],"content":[{ONE}]}}',
    ],
)
def test_where_another_text_could_not_be_put_there_is_none(body: str) -> None:
    assert text_of(result(body)) is None
