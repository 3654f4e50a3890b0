"""The single operations that a commit is made of.

Each names what stands at its target when it is planned. A directory's ctime moves with what happens in it, so it goes
by its inode alone.
"""

from typing import NamedTuple


class Remove(NamedTuple):
    """Take away a file, or a directory with all that is in it."""

    target: str
    inode: int
    ctime_ns: int
    """0: a directory's."""
    aside: str
    """Where it is put, to be cleared away later: to free what a file holds takes a disk much longer than a rename."""


class Move(NamedTuple):
    """Move a directory of the real tree, by which everything in it stays the same file."""

    source: str
    target: str
    inode: int


class Mkdir(NamedTuple):
    """Make a directory, open to its owner; `Meta` makes it what it is to be."""

    target: str


class Place(NamedTuple):
    """Bring a new file or a whole new directory out of the upper, over a file that may be there."""

    source: str
    target: str
    inode: int
    """0: nothing was there."""
    ctime_ns: int
    via: str
    """Where it is put together first, if `source` lies on another file system."""
    aside: str
    """Where the file that was there goes."""


class Write(NamedTuple):
    """Write new content into a file that stays the same one, for whoever has it open."""

    source: str
    target: str
    inode: int
    ctime_ns: int


class Link(NamedTuple):
    """Give a file that is already there another name."""

    source: str
    target: str
    spare: str
    """Its name in the upper, which would still count as one of the file's."""


class Unmark(NamedTuple):
    """Take the overlay's own attributes off something that is about to be placed."""

    target: str
    names: tuple[str, ...]
    mode: int


class Mode(NamedTuple):
    """Open a directory to its owner for as long as things in it are changed."""

    target: str
    mode: int


class Meta(NamedTuple):
    """Mode, owner and extended attributes of a file or directory."""

    target: str
    mode: int
    uid: int
    gid: int
    attributes: dict[str, str]
    """All of them, values in hexadecimal."""


class Times(NamedTuple):
    """When it was last read and written, in nanoseconds since 1970."""

    target: str
    atime_ns: int
    mtime_ns: int


Operation = Remove | Move | Mkdir | Place | Write | Link | Unmark | Mode | Meta | Times
