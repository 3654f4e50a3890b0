"""Which calls only read, as far as measuring goes: what is counted here is not run because of it.

A policy rules on tools. Some calls of a shell that it never lets be run ahead do nothing but read all the same;
they are told apart here so that a report can show them beside the calls that may be run ahead.
"""

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache

from paste_proxy.events.invocation import Invocation
from paste_proxy.speculation.plain_commands import Argv, pipeline
from paste_proxy.speculation.policy import Policy
from paste_proxy.speculation.reading_programs import reading

Reads = Callable[[Invocation], bool]

_SHOWN_WHOLE = frozenset({"cat", "head", "tail"})
_OF_GIT = frozenset(
    {"blame", "cat-file", "diff", "grep", "log", "ls-files", "ls-tree", "merge-base", "rev-parse", "shortlog", "show"}
    | {"status"}
)
_WRITES_OR_RUNS = ("--output", "--ext-diff", "--open-files-in-pager", "-O", "--textconv", "--filters")
"""Beginnings of options of these git commands that make them write a file or run a program."""


def runnable(policy: Policy, globs: Sequence[str] = ()) -> Reads:
    """Whether a call may be run ahead: its tool's rule lets it, or one of the globs names its tool.

    Without rules and globs that is every call.
    """
    if not policy.rules and not globs:
        return lambda call: True
    return lambda call: policy.rule_for(call.tool).allowed or any(fnmatchcase(call.tool, glob) for glob in globs)


def reading_commands(policy: Policy) -> Reads:
    """Whether a call is a shell's command that only reads, though its rule does not let it be run ahead.

    A tool is a shell if its rule says which argument is the command (`same.shell`).
    """

    def reads(call: Invocation) -> bool:
        ruling = policy.rule_for(call.tool)
        shell = ruling.same.shell
        command = call.arguments.get(shell.command) if shell and not ruling.allowed else None
        return isinstance(command, str) and only_reads(command)

    return reads


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
