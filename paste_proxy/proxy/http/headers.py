"""Which headers a relay passes on: all but the hop-by-hop ones of RFC 9110, 7.6.1, and `Host`."""

from collections.abc import Iterable

from aiohttp.typedefs import RawHeaders

Headers = list[tuple[str, str]]

_HOP_BY_HOP = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
_OURS_TO_WRITE = frozenset({b"host"})
_NEVER_BY_NAME = frozenset({b"content-length"})
"""`Connection` may name further headers to drop, but not the one that says where the body ends."""


def request_headers(raw: RawHeaders) -> Headers:
    """The headers to send upstream, in order and spelling.

    `Expect: 100-continue` stays here: the server has answered it already, and an upstream that ignores
    it would leave the body waiting.
    """
    spelling: dict[str, str] = {}
    # One spelling for a repeated name, else the client keeps only the last of its lines.
    return [
        (spelling.setdefault(name.lower(), name), value)
        for name, value in _kept(raw, _HOP_BY_HOP | _OURS_TO_WRITE | {b"expect"})
    ]


def response_headers(raw: RawHeaders) -> Headers:
    """The headers to answer the client with, in order and spelling."""
    return _kept(raw, _HOP_BY_HOP)


def _kept(raw: RawHeaders, dropped: frozenset[bytes]) -> Headers:
    lowered = [name.lower() for name, _ in raw]
    if b"connection" in lowered:
        dropped = dropped | _named(
            value for name, (_, value) in zip(lowered, raw, strict=True) if name == b"connection"
        )
    return [
        (name.decode("ascii", "replace"), value.decode("utf-8", "surrogateescape"))
        for lower, (name, value) in zip(lowered, raw, strict=True)
        if lower not in dropped
    ]


def _named(connection: Iterable[bytes]) -> frozenset[bytes]:
    return frozenset(name.strip().lower() for value in connection for name in value.split(b",")) - _NEVER_BY_NAME
