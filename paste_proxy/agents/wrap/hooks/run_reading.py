"""Runs a command as an agent's shell would; run as a program: `run_reading.py FOLDER [SNAPSHOTS SINCE]`.

The command comes as `{"command": ...}` on stdin. Output and errors go to stdout in the order in which they are
written, and the exit code is the command's. SNAPSHOTS is a folder of files that give the shell its functions and
aliases; the newest is taken, and where none is as young as SINCE nothing is run. Standard library only.
"""

import json
import os
import sys
from pathlib import Path
from typing import NoReturn

_SHELL = "/bin/bash"
_AS_CLAUDE = 'source "$1" 2>/dev/null || true; shopt -u extglob; eval "$2" < /dev/null'
_NOT_RUN = 125


def main(folder: str, snapshots: str = "", since: str = "0") -> int:
    """Become the shell; gives an exit code only where that cannot be."""
    command = json.load(sys.stdin)["command"]
    os.chdir(folder)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(1, 2)
    words = ["-c", command]
    if snapshots:
        found = sorted(Path(snapshots).glob("snapshot-bash-*.sh"), key=_age)
        if not found or _age(found[-1]) < float(since):
            return _NOT_RUN
        words = ["-c", _AS_CLAUDE, _SHELL, str(found[-1]), command]
    return _become([_SHELL, *words])


def _become(words: list[str]) -> NoReturn:
    os.execv(words[0], words)  # noqa: S606 - the shell is what is started


def _age(path: Path) -> float:
    return path.stat().st_mtime


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
