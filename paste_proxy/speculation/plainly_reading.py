"""Command lines that plainly only read files, or what git has recorded."""

from functools import lru_cache

from paste_proxy.speculation.plain_commands import Argv, pipeline
from paste_proxy.speculation.reading_programs import reading

_SHOWN_WHOLE = frozenset({"cat", "head", "tail"})
_OF_GIT = frozenset(
    {"blame", "cat-file", "diff", "grep", "log", "ls-files", "ls-tree", "merge-base", "rev-parse", "shortlog", "show"}
    | {"status"}
)
_WRITES_OR_RUNS = ("--output", "--ext-diff", "--open-files-in-pager", "-O", "--textconv", "--filters")
"""Beginnings of options of these git commands that make them write a file or run a program."""


@lru_cache(maxsize=4_096)
def only_reads(command: str) -> bool:
    """Whether a command line is plainly one that only reads files or what git has recorded."""
    if reading(command) is not None:
        return True
    stages = pipeline(command)
    if stages is None:
        return False
    if len(stages) == 1 and stages[0][0] in _SHOWN_WHOLE:
        return reading(f"{command} | wc") is not None
    _, piped, rest = command.partition(" | ")
    return _git_reads(stages[0]) and (not piped or reading(f"ls | {rest}") is not None)


def _git_reads(argv: Argv) -> bool:
    words = list(argv[1:])
    while words and words[0] in ("-C", "--no-pager"):
        del words[: 2 if words[0] == "-C" else 1]
    if argv[0] != "git" or not words or words[0] not in _OF_GIT:
        return False
    return not any(word.startswith(_WRITES_OR_RUNS) for word in words[1:])
