"""What must hold around a client, whichever it is, for a command run beside it to be the command it would run."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

_KERNELS = ("proc", "sys", "dev")
"""Folders at the root whose files are none."""
_OF_SHELLS = ("ENV", "SHELLOPTS", "POSIXLY_CORRECT")


def surrounding_obstacles(folder: Path, env: Mapping[str, str]) -> Iterator[str]:
    """What stands in the way of putting results in place, in words.

    Args:
        folder: the working folder.
        env: the client's environment.
    """
    if sys.platform != "linux":
        yield "what administrators set is known of Linux only"
    root = folder.resolve().parts[1:2]
    if not root or root[0] in _KERNELS:
        yield f"{folder} holds what are no files"
    for name in sorted(env):
        if name in _OF_SHELLS or name.startswith("BASH"):
            yield f"{name} is in the environment, and may change what commands do"
    if Path(env.get("SHELL") or "bash").name != "bash":
        yield f"SHELL is {env['SHELL']}, not bash"


def filled(folder: Path) -> bool:
    """Whether there is anything in a folder, if there is one."""
    return folder.exists() and not (folder.is_dir() and not any(folder.iterdir()))
