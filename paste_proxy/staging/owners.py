"""Programs that show who owns a file: in a user namespace everybody else is nobody.

Standard library only: runs inside.
"""

import re

_ALWAYS = frozenset(
    ("id", "groups", "stat", "tar", "bsdtar", "rsync", "cpio", "getfacl", "namei", "chown", "chgrp", "install")
)
_WITH_OPTION = {
    "ls": re.compile(r"-[a-zA-Z0-9]*[lgno]|--(?:author|format=(?:long|verbose)|full-time|numeric).*"),
    "find": re.compile(r"-(?:ls|fls|user|group|uid|gid|nouser|nogroup|f?printf)"),
    "tree": re.compile(r"-[a-zA-Z]*[ug]"),
    "exa": re.compile(r"-[a-zA-Z]*[lg]|--long"),
    "eza": re.compile(r"-[a-zA-Z]*[lg]|--long"),
}
_ARGUMENT = re.compile(rb'"((?:[^"\\]|\\.)*)"')


def shows_owners(execve: bytes) -> bool:
    """Of a program started with these arguments, in the tracer's words: path, arguments, environment."""
    program, *arguments = (word.decode(errors="replace") for word in _ARGUMENT.findall(execve))
    name = program.rpartition("/")[2]
    option = _WITH_OPTION.get(name)
    return name in _ALWAYS or (option is not None and any(map(option.fullmatch, arguments[1:])))
