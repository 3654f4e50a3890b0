"""Content codings undone on the observer's copy of a body, within a bound; what the client gets is never touched.

`gzip` and `deflate` are always there, `zstd` with Python 3.14 or `backports.zstd`, `br` with `brotli` 1.2,
the first that can bound its output.
"""

import zlib
from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import Protocol


def _installed(*names: str) -> ModuleType | None:
    for name in names:
        with suppress(ImportError):
            return import_module(name)
    return None


_ZSTD = _installed("compression.zstd", "backports.zstd")
_BROTLI = _installed("brotli")


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


class _Zstd:
    def __init__(self, module: ModuleType) -> None:
        self._faults = (module.ZstdError, EOFError)
        self._inner = module.ZstdDecompressor()

    def decode(self, data: bytes, limit: int) -> bytes:
        try:
            text: bytes = self._inner.decompress(data, limit + 1)
        except self._faults as fault:
            raise ValueError(f"not zstd: {fault}") from fault
        return _bounded(text, limit)


class _Brotli:
    def __init__(self, module: ModuleType) -> None:
        self._fault = module.error
        self._inner = module.Decompressor()

    def decode(self, data: bytes, limit: int) -> bytes:
        try:
            text: bytes = self._inner.process(data, output_buffer_limit=limit + 1)
        except self._fault as fault:
            raise ValueError(f"not brotli: {fault}") from fault
        if not self._inner.can_accept_more_data():
            raise ValueError(f"decodes to more than {limit} bytes")
        return _bounded(text, limit)


def decoder(coding: str) -> Decoder | None:
    """A decoder for a `Content-Encoding`, or None if this installation has none for it."""
    match coding.strip().lower():
        case "gzip" | "x-gzip":
            return _Zlib(16 + zlib.MAX_WBITS)
        case "deflate":
            return _Deflate()
        case "zstd" if _ZSTD is not None:
            return _Zstd(_ZSTD)
        case "br" if _BROTLI is not None and hasattr(_BROTLI.Decompressor, "can_accept_more_data"):
            return _Brotli(_BROTLI)
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
