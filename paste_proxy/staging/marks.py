"""What an overlay notes about things in its upper directory, as extended attributes of theirs.

After the kernel's Documentation/filesystems/overlayfs.rst. An unknown mark means that something happened which we
would not get right.
"""

import errno
import os
from typing import NamedTuple

from paste_proxy.staging.types import Refused, Tier

_PREFIX = {Tier.ROOT: "trusted.overlay.", Tier.USER: "user.overlay."}
PREFIXES = tuple(_PREFIX.values())
"""How the names of marks may begin."""
_KNOWN = frozenset({"origin", "opaque", "redirect", "impure"})
_OF_THE_ROOT = frozenset({"uuid", "origin", "impure"})


class Marks(NamedTuple):
    """Of one file or directory."""

    names: tuple[str, ...] = ()
    """The attributes themselves."""
    origin: bool = False
    """It is what was there before, with changes."""
    opaque: bool = False
    """Of a directory: nothing of what was there before is in it."""
    redirect: str | None = None
    """Of a directory: where it was moved from; absolute (from the overlay's root), or a name in the same directory."""


_NONE = Marks()


def prefix_of(tier: Tier) -> str:
    """How the names of marks begin."""
    return _PREFIX[tier]


def marks_of(path: str, prefix: str, *, root: bool = False) -> Marks:
    """Read them.

    Args:
        root: it is the upper directory itself.

    Raises:
        Refused: there is one that we don't know.
        OSError: of reading.
    """
    names = tuple(name for name in _listed(path) if name.startswith(prefix))
    if not names:
        return _NONE
    short = {name.removeprefix(prefix) for name in names}
    if unknown := short - (_OF_THE_ROOT if root else _KNOWN):
        raise Refused(f"{path} is marked {sorted(unknown)[0]!r}")
    values = {name: os.getxattr(path, prefix + name, follow_symlinks=False) for name in short & {"opaque", "redirect"}}
    if (opaque := values.get("opaque")) not in (None, b"y"):
        raise Refused(f"{path} is marked opaque {opaque!r}")
    redirect = values.get("redirect")
    return Marks(names, "origin" in short, opaque is not None, os.fsdecode(redirect) if redirect else None)


def _listed(path: str) -> list[str]:
    try:
        return os.listxattr(path, follow_symlinks=False)
    except OSError as fault:
        if fault.errno == errno.ENOTSUP:
            return []
        raise
