"""Commands that would take what is meant for others: to read from a named pipe empties it."""

import os
import stat
from collections.abc import Iterator

from paste_proxy.speculation.plain_commands import pipeline


def may_empty_a_pipe(command: str, folder: str) -> bool:
    """Whether a command that only reads names something that is neither a file nor a directory.

    Args:
        command: a plain one; of others nothing is known, and they may.
        folder: absolute, where it runs.
    """
    stages = pipeline(command)
    return (
        stages is None
        or any(
            _is_special(os.path.join(folder, place))  # noqa: PTH118  a command's words are no paths yet
            for argv in stages
            for word in argv[1:]
            for place in _places(word)
        )
    )


def _places(word: str) -> Iterator[str]:
    """What a word may name: all of it, or what follows an option's name."""
    yield word
    if word.startswith("-"):
        yield word.partition("=")[2] or word[2:]


def _is_special(place: str) -> bool:
    try:
        mode = os.stat(place).st_mode  # noqa: PTH116  the same
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
