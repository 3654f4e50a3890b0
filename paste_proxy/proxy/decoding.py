"""Content codings undone on the observer's copy of a body, within a bound; what the client gets is never touched."""

import zlib
from typing import Protocol


class Decoder(Protocol):
    """Undoes one coding piece by piece."""

    def decode(self, data: bytes, limit: int) -> bytes:
        """The next decoded bytes, at most about `limit`.

        Raises:
            ValueError: the data is not of this coding, or decodes to more than `limit`.
        """


class _Zlib:
    def __init__(self, window: int) -> None:
        self._inflate = zlib.decompressobj(window)

    def decode(self, data: bytes, limit: int) -> bytes:
        try:
            text = self._inflate.decompress(data, limit + 1)
        except zlib.error as fault:
            raise ValueError(f"not the coding it claims to be: {fault}") from fault
        return _bounded(text, limit)


class _Deflate:
    """`deflate` is zlib's format by RFC 9110, and bare DEFLATE from some servers."""

    def __init__(self) -> None:
        self._inner: _Zlib | None = None

    def decode(self, data: bytes, limit: int) -> bytes:
        if self._inner is None and data:
            self._inner = _Zlib(zlib.MAX_WBITS if data[0] & 0x0F == 8 else -zlib.MAX_WBITS)
        return self._inner.decode(data, limit) if self._inner is not None else b""


def decoder(coding: str) -> Decoder | None:
    """A decoder for a `Content-Encoding`, or None if this installation has none for it."""
    match coding.strip().lower():
        case "gzip" | "x-gzip":
            return _Zlib(16 + zlib.MAX_WBITS)
        case "deflate":
            return _Deflate()
        case _:
            return None


def decoded(body: bytes, coding: str, limit: int) -> bytes | None:
    """A whole body decoded, or None if that cannot be done within `limit` bytes."""
    inner = decoder(coding)
    if inner is None:
        return None
    try:
        return inner.decode(body, limit)
    except ValueError:
        return None


def _bounded(text: bytes, limit: int) -> bytes:
    if len(text) > limit:
        raise ValueError(f"decodes to more than {limit} bytes")
    return text
