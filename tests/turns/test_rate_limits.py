"""What headers tell of a key's limits."""

from email.utils import formatdate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paste_proxy.turns.rate_limits import read_limits
from paste_proxy.turns.types import Allowance, RateLimits

NOW = 1_700_000_000.0  # 2023-11-14T22:13:20Z


def test_the_headers_of_openai() -> None:
    headers = {
        "X-RateLimit-Limit-Requests": "60",
        "X-RateLimit-Limit-Tokens": "150000",
        "X-RateLimit-Remaining-Requests": "59",
        "X-RateLimit-Remaining-Tokens": "149984",
        "X-RateLimit-Reset-Requests": "1s",
        "X-RateLimit-Reset-Tokens": "6m0s",
    }
    assert read_limits(200, headers, NOW) == RateLimits(
        requests=Allowance(limit=60, remaining=59, reset_s=1),
        tokens=Allowance(limit=150_000, remaining=149_984, reset_s=360),
    )


def test_the_headers_of_anthropic() -> None:
    headers = {
        "anthropic-ratelimit-requests-limit": "50",
        "anthropic-ratelimit-requests-remaining": "49",
        "anthropic-ratelimit-requests-reset": "2023-11-14T22:13:22Z",
        "anthropic-ratelimit-tokens-remaining": "48000",
        "anthropic-ratelimit-input-tokens-remaining": "40000",
        "anthropic-ratelimit-input-tokens-reset": "2023-11-14T23:13:20+01:00",
        "anthropic-ratelimit-output-tokens-limit": "8000",
    }
    assert read_limits(200, headers, NOW) == RateLimits(
        requests=Allowance(limit=50, remaining=49, reset_s=2),
        tokens=Allowance(remaining=48_000),
        input_tokens=Allowance(remaining=40_000, reset_s=0),
        output_tokens=Allowance(limit=8_000),
    )


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("120ms", 0.12),
        ("6m0s", 360),
        ("2m59.56s", 179.56),
        ("1h2m3s", 3_723),
        ("7.66", 7.66),
        (f"{NOW + 30:.0f}", 30),
        ("2023-11-14T22:12:20Z", 0),
    ],
)
def test_ways_to_say_when_all_is_there_again(said: str, seconds: float) -> None:
    limits = read_limits(200, {"x-ratelimit-reset-tokens": said}, NOW)
    assert limits is not None
    assert limits.tokens.reset_s == pytest.approx(seconds)


@pytest.mark.parametrize("said", ["", "soon", "1s later", "-1s", "1s,2s", "2023-11-14T22:13:22", "nan", "9" * 400])
def test_what_cannot_be_read_is_not_there(said: str) -> None:
    assert read_limits(200, {"x-ratelimit-reset-tokens": said, "retry-after": said}, NOW) is None


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "20"}, 20),
        ({"retry-after": "0.5"}, 0.5),
        ({"Retry-After": formatdate(NOW + 7, usegmt=True)}, 7),
        ({"retry-after": "1", "Retry-After-Ms": "250"}, 0.25),
        ({"x-should-retry": "true"}, None),
    ],
)
def test_when_to_come_again(headers: dict[str, str], seconds: float | None) -> None:
    assert read_limits(429, headers, NOW) == RateLimits(refused=True, retry_after_s=seconds)


def test_an_overloaded_service_means_it_where_it_says_for_how_long() -> None:
    assert read_limits(529, {"retry-after": "3"}, NOW) == RateLimits(refused=True, retry_after_s=3)
    assert read_limits(503, {}, NOW) is None
    assert read_limits(500, {"retry-after": "3"}, NOW) is None


def test_moments_are_told_by_the_clock_of_the_service() -> None:
    headers = {
        "Date": formatdate(NOW - 3_600, usegmt=True),
        "anthropic-ratelimit-requests-reset": "2023-11-14T21:13:25Z",
    }
    limits = read_limits(200, headers, NOW)
    assert limits is not None
    assert limits.requests.reset_s == 5


def test_an_answer_that_says_nothing() -> None:
    assert read_limits(200, {"content-type": "application/json", "date": formatdate(NOW, usegmt=True)}, NOW) is None


NAMES = st.sampled_from(
    [
        "x-ratelimit-remaining-tokens",
        "x-ratelimit-reset-tokens",
        "anthropic-ratelimit-tokens-reset",
        "retry-after",
        "retry-after-ms",
        "date",
    ]
)


VALUES = st.text(max_size=20) | st.text("0123456789T:Zms.+ -", max_size=30)


@settings(max_examples=200, deadline=None)
@given(headers=st.dictionaries(NAMES, VALUES), status=st.integers(100, 599))
def test_whatever_stands_there_is_read_or_passed_over(headers: dict[str, str], status: int) -> None:
    limits = read_limits(status, headers, NOW)
    if limits is not None:
        assert limits.tokens.reset_s is None or 0 <= limits.tokens.reset_s < 1e9
        assert limits.retry_after_s is None or limits.refused
