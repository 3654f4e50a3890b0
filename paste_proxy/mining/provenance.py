"""Which sessions a pool was mined from, told by digests of their ids: a pool should be measured on others."""

from collections.abc import Iterable
from hashlib import blake2b

KEPT = 1_000
"""Digests kept of a pool's sessions, the smallest: of more sessions, a sample that does not depend on their order."""


def digests(ids: Iterable[str]) -> tuple[str, ...]:
    """Digests of session ids, ascending, as many as are kept."""
    return tuple(sorted({_digest(one) for one in ids})[:KEPT])


def known(ids: Iterable[str], kept: Iterable[str]) -> int:
    """How many of these sessions are known to be among those of the digests."""
    found = frozenset(kept)
    return sum(_digest(one) in found for one in ids)


def _digest(name: str) -> str:
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=5).hexdigest()
