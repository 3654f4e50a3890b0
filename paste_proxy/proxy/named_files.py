"""The policies and patterns that a config names: files, or `builtin:NAME` for those the package carries."""

from functools import cache

from paste_proxy.config import Config
from paste_proxy.mining.pool import Pool
from paste_proxy.mining.storage import parse_pool
from paste_proxy.share import find
from paste_proxy.speculation.policy import Policy, combine
from paste_proxy.text_file import read_text

GENERAL = "builtin:general"


def read_policy(name: str) -> Policy:
    """The policy of that name.

    Raises:
        InputFault: it cannot be read or is malformed.
    """
    return Policy.parse(_read("policies", name), name)


def read_patterns(name: str) -> Pool:
    """The patterns of that name: a mined pool, or TOML by people.

    Raises:
        InputFault: they cannot be read or are malformed.
    """
    return parse_pool(_read("patterns", name), str(find("patterns", name)))  # how it ends says of which form it is


@cache
def general_pool() -> Pool:
    """The pool for tools that no other knows, read once."""
    return read_patterns(GENERAL)


def policy_of(config: Config) -> Policy:
    """The policy that a config asks for, once all that it names has been read.

    Raises:
        InputFault: as `read_policy` and `read_patterns`.
    """
    for pool in config.patterns:
        read_patterns(pool)
    return combine([read_policy(name) for name in config.policies])


def _read(kind: str, name: str) -> str:
    return read_text(find(kind, name), f"a {kind} file, or builtin:NAME", name=name)
