"""Which calls of a shell do nothing but read files: to run one of them twice, or for nothing, changes nothing.

What is not plainly so is not so. A command is a pipeline of programs that are known to read only, with options
that are known not to write or run anything; nothing is expanded in it but file names. A lone `cat` and its like
are left out: they are over at once, and some agents note which files were shown whole.
"""

import re
import shlex
from collections.abc import Mapping

from paste_proxy.events.values import Json

READ_SHELL = "read_shell"
"""The tool that runs such commands, its one argument `command`."""

_SHELLS: Mapping[str, frozenset[str]] = {
    "Bash": frozenset({"command", "description", "timeout"}),
    "run_shell_command": frozenset({"command", "description", "wait_for_previous"}),
}
"""Agents' shells, and the arguments beside which there may be no other."""
_LEAST_TIMEOUT_MS = 60_000
_LONGEST = 2_000
_OUTSIDE = re.compile(r"[^\w ./,:=@%+*?\[\]|'\"^-]")
"""Characters by which a shell does more than call programs, or that are not needed to read files."""
_SPECIAL = re.compile(r"(?:^|[/=])(?:dev|proc|sys)(?:/|$)")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_GLOB = re.compile(r"[*?\[]")
_SHORT = re.compile(r"-[A-Za-z0-9]+|--")
_PROGRAMS: Mapping[str, re.Pattern[str]] = {
    "cat": _SHORT,
    "comm": _SHORT,
    "cut": re.compile(r"-[bcdfns].*|--"),
    "diff": re.compile(r"-[A-Za-z0-9]+|--brief|--recursive|--unified(=\d+)?"),
    "du": re.compile(r"-[A-Za-z0-9]+|--max-depth=\d+|--summarize|--human-readable"),
    "find": re.compile(r"-(?!exec|ok|delete|fprint|fls|files0).*"),
    "grep": re.compile(r"-[A-Za-z0-9]+|--(include|exclude|exclude-dir)=.*|--color=never|--"),
    "head": _SHORT,
    "ls": _SHORT,
    "md5sum": re.compile(r"-[bt]"),
    "nl": _SHORT,
    "sha256sum": re.compile(r"-[bt]"),
    "sort": re.compile(r"-[bdfgiMhnrVusz]+|-k[\d.,bdfgiMhnrV]+|-t.?"),
    "tail": re.compile(r"-[cnqv]?\d*"),
    "tr": re.compile(r"-[cds]+"),
    "uniq": re.compile(r"-[cdiu]+"),
    "wc": re.compile(r"-[clmwL]+"),
}
"""Programs, and what an option of theirs may look like."""
_WITHOUT_FILES = ("uniq",)
"""A second file would be written."""
_NO_GLOBS = {"find", "sort", "tail", "uniq"}
"""Where a file's name could be an option that does harm."""
_AT_ONCE = {"cat", "head", "tail", "nl"}


def reading_command(tool: str, arguments: Mapping[str, Json]) -> str | None:
    """The command of a shell's call that does nothing but read; None for any other call.

    Args:
        tool: by the name that its agent gives it.
    """
    command, timeout = arguments.get("command"), arguments.get("timeout", _LEAST_TIMEOUT_MS)
    if not isinstance(command, str) or not arguments.keys() <= _SHELLS.get(tool, frozenset()):
        return None
    if not isinstance(timeout, int) or timeout < _LEAST_TIMEOUT_MS or len(command) > _LONGEST:
        return None
    return command if only_reads(command) else None


def only_reads(command: str) -> bool:
    """Whether a shell's command line does nothing but read files."""
    if _OUTSIDE.search(command):
        return False
    try:
        lexer = shlex.shlex(command, posix=True, punctuation_chars="|")
        lexer.whitespace_split, lexer.commenters = True, ""
        words = list(lexer)
    except ValueError:
        return False
    stages: list[list[str]] = [[]]
    for word in words:
        if word == "|":
            stages.append([])
        elif set(word) == {"|"}:
            return False
        else:
            stages[-1].append(word)
    if not all(map(_reads, stages)):
        return False
    programs = {stage[0] for stage in stages}
    globs = _GLOB.search(_QUOTED.sub("", command)) is not None
    return not (globs and programs & _NO_GLOBS) and not (len(stages) == 1 and programs <= _AT_ONCE)


def _reads(words: list[str]) -> bool:
    if not words or words[0] not in _PROGRAMS:
        return False
    program, rest = words[0], words[1:]
    options = [word for word in rest if word.startswith("-") and word != "-"]
    if program in _WITHOUT_FILES and len(options) < len(rest):
        return False
    allowed = _PROGRAMS[program]
    return all(map(allowed.fullmatch, options)) and not any(map(_SPECIAL.search, rest))
