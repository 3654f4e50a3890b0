"""TOML that people write: what is none is refused in words."""

import pytest

from paste_proxy.errors import InputFault
from paste_proxy.events.toml import read_toml


@pytest.mark.parametrize("text", ["a =", "a = " + "9" * 5_000, "a = " + "[" * 5_000])
def test_what_cannot_be_read_is_refused_in_words(text: str) -> None:
    with pytest.raises(InputFault, match=r"here\.toml"):
        read_toml(text, "here.toml", "a table")
