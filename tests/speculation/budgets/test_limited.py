"""Which answers say that a service wants fewer calls."""

import pytest

from paste_proxy.events.result import Status, ToolResult
from paste_proxy.speculation.budgets.limited import Limited, limited


def error(text: str, http_status: int = 200, retry_after_s: float | None = None) -> ToolResult:
    return ToolResult(body=text.encode(), status=Status.ERROR, http_status=http_status, retry_after_s=retry_after_s)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("Rate limit exceeded", None),
        ("Rate limit reached for requests. Please try again in 20s.", 20),
        ("429 Too Many Requests", None),
        ('{"content":[{"type":"text","text":"too many requests, retry after 2 minutes"}],"isError":true}', 120),
        ('{"error":{"code":429,"message":"slow down"},"retry_after": 1.5}', 1.5),
        ("RESOURCE_EXHAUSTED: Quota exceeded for quota metric", None),
        ("You exceeded your current quota, please check your plan", None),
        ("ThrottlingException: Rate exceeded; Retry-After: 30", 30),
        ("rate_limit_error: try again in 250ms", 0.25),
        ("HTTP error 429", None),
    ],
)
def test_the_usual_words(text: str, seconds: float | None) -> None:
    assert limited(error(text)) == Limited(seconds)


@pytest.mark.parametrize(
    "text", ["", "no such file: order-4290.txt", "error at line 4290", "the limit of the rate is fine", "429 rows"]
)
def test_other_errors_say_nothing_of_it(text: str) -> None:
    assert limited(error(text)) is None


def test_a_status_says_it_and_so_does_a_header() -> None:
    assert limited(error("", 429)) == Limited(None)
    assert limited(error("", 429, 7.0)) == Limited(7.0)
    assert limited(error("", 503, 7.0)) == Limited(7.0)
    assert limited(error("", 503)) is None


def test_an_answer_that_is_no_error_may_be_about_anything() -> None:
    assert limited(ToolResult(body=b"how to handle 429 Too Many Requests")) is None
    assert limited(error("rate limit " + "x" * 5_000)) is None
