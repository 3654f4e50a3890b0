"""TOML that people write: the one place where it is read."""

import tomllib
from typing import Any

from paste_proxy.errors import InputFault


def read_toml(text: str, where: str, expected: str) -> dict[str, Any]:
    """The tables of a TOML text.

    Args:
        where: names it in faults.
        expected: what it should hold, for people.

    Raises:
        InputFault: it is not TOML, or nested beyond reason.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        raise InputFault(where, f"is not TOML ({fault})", expected) from fault
    except ValueError as fault:
        raise InputFault(where, f"holds what cannot be read ({fault})", expected) from fault
    except RecursionError as fault:
        raise InputFault(where, "is not TOML (nested too deeply)", expected) from fault
