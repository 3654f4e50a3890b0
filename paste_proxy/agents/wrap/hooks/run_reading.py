"""Runs a command that only reads, as an agent's shell would; run as: `run_reading.py FOLDER [SNAPSHOTS SINCE]`.

The command comes as `{"command": ...}` on stdin. Output and errors go to stdout in the order in which they are
written, and the exit code is the command's. What is not known to read files within FOLDER alone is not run, whoever
asks: its words are looked at again here, every one that may name a file must lead to a file or folder in there, and
the programs must be the system's.

SNAPSHOTS is a folder of files from which Claude Code's shell has its functions and aliases. The newest is taken; it
must be as young as SINCE, and hold nothing of the user's that could be meant by a program's name. Standard library
only.
"""

import json
import os
import re
import stat
import sys
from collections.abc import Iterable
from pathlib import Path

sys.path.append(str(Path(__file__).parents[4]))

from paste_proxy.speculation.reading_programs import NAMES, reading
from paste_proxy.tools.become import become

_SHELL = "/bin/bash"
_RUN = """{
[ -z "$1" ] || source "$1" 2>/dev/null
shopt -u extglob
line=$2; shift 2
for one; do
  [ "$(type -t "$one")" = function ] && continue
  case $(type -P "$one") in "/usr/bin/$one"|"/bin/$one") ;; *) exit 125;; esac
done
eval "$line"
}"""
"""In braces, so that it is read as a whole before there are aliases."""
_NOT_RUN = 125
_OWN_LINE = re.compile(
    r"(?:#.*|\s.*||fi|\}|function (?:rg|find|grep|pkill) \{|if ! hash rg .*; then"
    r"|unalias (?:-a|find|grep|pkill) 2>/dev/null \|\| true|shopt -[su] \w+|set [-+]o \w+|export PATH=.*)"
)
"""Lines of a snapshot that Claude Code writes for every user, and those that set the shell's options."""
_ALIAS = re.compile(r"alias (?:-- )?([\w.-]+)='([^']*)'")


def main(folder: str, snapshots: str = "", since: str = "0") -> int:
    """Become the shell; gives an exit code only where nothing is run."""
    command = json.load(sys.stdin)["command"]
    stages = reading(command)
    os.chdir(folder)
    if stages is None or not _within((word for stage in stages for word in stage[1:]), os.path.realpath(folder)):
        return _NOT_RUN
    snapshot = ""
    if snapshots:
        found = sorted(Path(snapshots).glob("snapshot-bash-*.sh"), key=_age)
        if not found or _age(found[-1]) < float(since) or not _plain(found[-1].read_text()):
            return _NOT_RUN
        snapshot = str(found[-1])
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(1, 2)
    return become([_SHELL, "-c", _RUN, _SHELL, snapshot, command, *sorted({stage[0] for stage in stages})])


def _within(words: Iterable[str], folder: str) -> bool:
    """Whether every word that may name a file leads to an ordinary one in the folder, or to none."""
    for word in words:
        if word.startswith("-"):
            continue
        path = os.path.realpath(word)
        if os.path.commonpath((folder, path)) != folder:
            return False
        try:
            mode = os.lstat(path).st_mode
        except (FileNotFoundError, NotADirectoryError):
            continue
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            return False
    return True


def _plain(snapshot: str) -> bool:
    """Whether a snapshot is whole and gives no program's name another meaning than Claude Code itself does."""
    lines = snapshot.rstrip("\n").split("\n")
    return lines[-1].startswith("export PATH=") and all(_OWN_LINE.fullmatch(line) or _apart(line) for line in lines)


def _apart(line: str) -> bool:
    """Whether this is an alias for something else, or one that only colours terminals."""
    alias = _ALIAS.fullmatch(line)
    return alias is not None and (alias[1] not in NAMES or alias[2] == f"{alias[1]} --color=auto")


def _age(path: Path) -> float:
    return path.stat().st_mtime


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        sys.exit(_NOT_RUN)
