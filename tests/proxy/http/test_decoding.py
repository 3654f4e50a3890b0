"""Codings are undone piece by piece, and never beyond a bound."""

import gzip
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paste_proxy.proxy.http.decoding import decoded, decoder


def bare(plain: bytes) -> bytes:
    squeezer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return squeezer.compress(plain) + squeezer.flush()


def zstd(plain: bytes) -> bytes:
    packed: bytes = pytest.importorskip("backports.zstd").compress(plain)
    return packed


def br(plain: bytes) -> bytes:
    packed: bytes = pytest.importorskip("brotli", minversion="1.2").compress(plain)
    return packed


CODINGS: list[tuple[str, Callable[[bytes], bytes]]] = [
    ("gzip", gzip.compress),
    ("X-GZip", gzip.compress),
    ("deflate", zlib.compress),
    ("deflate", bare),
    ("zstd", zstd),
    ("br", br),
]


@pytest.mark.parametrize(("coding", "pack"), CODINGS)
@given(plain=st.binary(max_size=3000), step=st.integers(1, 500))
def test_any_pieces_give_the_plain_text(coding: str, pack: Callable[[bytes], bytes], plain: bytes, step: int) -> None:
    packed, inner = pack(plain), decoder(coding)
    assert inner is not None
    assert b"".join(inner.decode(packed[at : at + step], 10**6) for at in range(0, len(packed), step)) == plain


@pytest.mark.parametrize(("coding", "pack"), CODINGS)
def test_a_bomb_is_given_up_at_the_bound(coding: str, pack: Callable[[bytes], bytes]) -> None:
    assert decoded(pack(bytes(10**6)), coding, 10**6) == bytes(10**6)
    assert decoded(pack(bytes(10**6 + 1)), coding, 10**6) is None


@pytest.mark.parametrize("coding", ["gzip", "deflate", "zstd", "br", "unheard-of", "gzip, br"])
def test_what_cannot_be_decoded_is_none(coding: str) -> None:
    assert decoded(b"\xff plain text", coding, 1000) is None
