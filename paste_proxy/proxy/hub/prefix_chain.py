"""Names for the prefixes of a conversation: the point of a prefix is the digest of the point before it and of
its last message, so equal points mean equal prefixes."""

from collections.abc import Container
from dataclasses import dataclass
from hashlib import blake2b

from paste_proxy.wire.types import Message

_INSTRUCTIONS = frozenset({"system", "developer"})


@dataclass(frozen=True, slots=True)
class PrefixChain:
    """The points of one conversation."""

    points: list[bytes]
    """One for each message of the chain, in order."""
    ends: list[int]
    """For each point, how many messages of the request it spans."""
    last: bytes
    """The point of the whole conversation."""

    def reach(self, *known: Container[bytes]) -> int:
        """How many messages of the request the longest known prefix spans."""
        for point, end in zip(reversed(self.points), reversed(self.ends), strict=True):
            if any(point in points for points in known):
                return end
        return 0


def chains(messages: tuple[Message, ...]) -> tuple[PrefixChain, PrefixChain]:
    """The chain over all messages, and the one without the system's."""
    return _chain(b"whole", messages, frozenset()), _chain(b"spoken", messages, _INSTRUCTIONS)


def after(point: bytes, digest: bytes) -> bytes:
    """The point of a prefix one message longer."""
    return blake2b(point + digest, digest_size=16).digest()


def _chain(seed: bytes, messages: tuple[Message, ...], without: frozenset[str]) -> PrefixChain:
    points, ends, at = [], [], seed
    for end, message in enumerate(messages, 1):
        if message.role not in without:
            at = after(at, message.digest)
            points.append(at)
            ends.append(end)
    return PrefixChain(points, ends, at)
