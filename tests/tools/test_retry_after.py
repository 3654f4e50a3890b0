"""The header in both of its forms, and in none."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from paste_proxy.tools.retry_after import retry_after_s


def test_seconds_and_dates() -> None:
    assert retry_after_s({"Retry-After": " 120 "}) == 120
    soon = retry_after_s({"Retry-After": format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)})
    assert soon is not None
    assert 80 < soon <= 90
    assert retry_after_s({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0


@pytest.mark.parametrize("said", ["", "soon", "-3", "1.5 s", "٣", "Wed, 99 Oct 2015"])
def test_what_is_neither_says_nothing(said: str) -> None:
    assert retry_after_s({"Retry-After": said}) is None
    assert retry_after_s({}) is None
