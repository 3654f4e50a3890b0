"""Programs whose very output is what a view has otherwise than the machine.

An overlay counts no links of a directory that has changed, and has a device number of its own; in a user namespace
everybody else is nobody. Standard library only: runs inside.
"""

import re

_COUNTS = frozenset(("stat", "findmnt", "mountpoint", "lsattr", "chattr"))
_OWNERS = frozenset(("id", "groups", "tar", "bsdtar", "rsync", "cpio", "getfacl", "namei", "chown", "chgrp", "install"))
_COUNTS_BY_OPTION = {"find": re.compile(r"-(?:ls|fls|links|f?printf|xdev|mount|fstype|samefile|inum)")}
_OWNERS_BY_OPTION = {
    "ls": re.compile(r"-\w*[lgno]\w*|--(?:author|format=(?:long|verbose)|full-time|numeric).*"),
    "find": re.compile(r"-(?:user|group|uid|gid|nouser|nogroup)"),
    "tree": re.compile(r"-\w*[ug]\w*"),
    "exa": re.compile(r"-\w*[lg]\w*|--long"),
    "eza": re.compile(r"-\w*[lg]\w*|--long"),
}
_ARGUMENT = re.compile(rb'"((?:[^"\\]|\\.)*)"')
_UNCOUNTED = re.compile(rb"^ *(?:\d+ +){0,2}d[-rwxsStT]{9}[.+@]? +1 ", re.MULTILINE)


def shown_otherwise(execve: bytes, *, unprivileged: bool) -> str | None:
    """What a program shows, in words, that was started with these arguments, in the tracer's words: path, arguments,
    environment. None: nothing that would be otherwise."""
    program, *arguments = (word.decode(errors="replace") for word in _ARGUMENT.findall(execve))
    name, options = program.rpartition("/")[2], arguments[1:]
    if name in _COUNTS or _any(_COUNTS_BY_OPTION.get(name), options):
        return "link counts or devices of files"
    if unprivileged and (name in _OWNERS or _any(_OWNERS_BY_OPTION.get(name), options)):
        return "owners of files"
    return None


def lists_uncounted(output: bytes) -> bool:
    """Whether it is a list, as `ls -l` makes it, of directories without a count of their links."""
    return _UNCOUNTED.search(output) is not None


def _any(option: re.Pattern[str] | None, options: list[str]) -> bool:
    return option is not None and any(map(option.fullmatch, options))
