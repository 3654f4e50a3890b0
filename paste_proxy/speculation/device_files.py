"""Paths below which reading uses something up, or acts on it: devices, and what the kernel shows as files.

Paths are resolved lexically; where a link may lead is not looked into. Standard library only.
"""

import re
from collections.abc import Iterable
from posixpath import join, normpath

from paste_proxy.speculation.plain_commands import Argv

_BELOW = re.compile(r"/+(?:dev|proc|sys)(?:/.*)?")
_PERHAPS = re.compile(r"(?:^|/)\.\./[./]*(?:dev|proc|sys)(?:/|$)")
"""After a step up it takes the system to tell: from an unknown folder, or from where a link has led."""
_NOTHING = "/dev/null"
_IN_DEPTH = frozenset({"diff", "grep", "rg"})
"""Programs that may read all that is below a folder."""


def may_name_devices(stages: Iterable[Argv], folder: str = "") -> bool:
    """Whether one of these programs, run in a folder, is given such a path, or all that there is.

    Args:
        folder: empty where it is not known, and taken for none of these.
    """
    return any(_may(argv, folder) for argv in stages)


def _may(argv: Argv, folder: str) -> bool:
    words = list(argv[1:])
    while argv[0] == "git" and len(words) > 1 and words[0] in ("-C", "--no-pager", "--no-optional-locks"):
        if words[0] == "-C":
            folder = join(folder, words[1])
        del words[: 2 if words[0] == "-C" else 1]
    named = [join(folder, word) for word in ("", *words)]
    if argv[0] in (*_IN_DEPTH, "git") and any(_is_root(path) for path in named):
        return True
    return any(_is_device(path) for path in named)


def _is_root(path: str) -> bool:
    return path != "" and not normpath(path).strip("/")


def _is_device(path: str) -> bool:
    if path == _NOTHING:
        return False
    return _BELOW.fullmatch(normpath(path)) is not None or _PERHAPS.search(path) is not None
