"""When two raw ids are the same id: peers write them anew, so their values are compared, not their bytes."""

from paste_proxy.events.values import canonical_text
from paste_proxy.wire.loose import read


def id_key(raw: bytes) -> bytes:
    """Equal for two raw JSON ids or tokens exactly if they are the same value; the number 1 is not the string."""
    if raw.isdigit() or (raw.isascii() and b"\\" not in raw):
        return raw
    value = read(raw)
    return raw if value is None else canonical_text(value).encode("utf-8", "surrogatepass")
