"""Which word of a command line is the program that it runs, behind node, npx and the like."""

import re
from collections.abc import Collection, Sequence
from pathlib import PurePath

_RUNTIMES = ("node", "nodejs", "bun", "deno", "env")
_FETCHERS = {"npx": (), "pnpx": (), "bunx": (), "npm": ("exec", "x"), "pnpm": ("dlx", "exec"), "yarn": ("dlx", "exec")}
"""By name: the words that stand between it and the package it runs."""
_TAKES_VALUE = ("-r", "--require", "--import", "--loader", "-C", "-u", "--registry", "--package", "-p")
_VERSION = re.compile(r"(?<=.)@[^/]*$")


def program_at(command: Sequence[str], *, names: Collection[str], packages: Collection[str]) -> int | None:
    """Where in `command` the program stands; None: it runs another one.

    Args:
        names: what it is called on the PATH.
        packages: its npm packages, by which npx and paths in `node_modules` know it.
    """
    at = _behind_launchers(command)
    if at >= len(command):
        return None
    word = command[at]
    path = PurePath(word.replace("\\", "/"))
    in_package = any(f"/{package}/" in path.as_posix() for package in packages)
    called = path.name.removesuffix(".cmd").removesuffix(".exe") in names or _VERSION.sub("", word) in packages
    return at if called or in_package else None


def _behind_launchers(command: Sequence[str]) -> int:
    at = 0
    while at < len(command):
        name = PurePath(command[at]).name
        if name not in _RUNTIMES and name not in _FETCHERS:
            break
        between = _FETCHERS.get(name, ())
        at += 1
        while at < len(command) and _stands_between(command[at], between, name):
            at += 2 if command[at] in _TAKES_VALUE else 1
    return at


def _stands_between(word: str, between: Sequence[str], launcher: str) -> bool:
    return word.startswith("-") or word in between or (launcher == "env" and "=" in word)
