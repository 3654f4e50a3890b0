"""Importing the package is cheap."""

import subprocess
import sys

import pytest

import paste_proxy


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import paste_proxy", ("aiohttp", "pydantic", "asyncio", "openai")),
        ("from paste_proxy import Sidecar, Stats", ("openai", "structlog", "paste_proxy.proxy")),
    ],
)
def test_an_import_loads_no_more_than_it_needs(code: str, absent: tuple[str, ...]) -> None:
    check = f"{code}; import sys; print([name for name in {absent!r} if name in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="Sidecart"):
        _ = paste_proxy.Sidecart
