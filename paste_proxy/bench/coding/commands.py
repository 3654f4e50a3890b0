"""A recorded command as one of the project's, by its own words alone: the same one always becomes the same.

Tests become tests: of everything where nothing is named, of a package or a file where one is. Builds and linters become
a package's tests. What asks git asks git; whatever else becomes a look at a file.
"""

import re
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import TypeVar

from paste_proxy.bench.coding.project import PACKAGES, modules

_FOLDER = re.compile(r"^\s*cd\s+\S+\s*&&\s*")
_CUT = re.compile(r"\s*((?:2>&1\s*)?\|\s*(?:tail|head)\s+-(?:n\s*)?\d+|2>&1)\s*$")
_TESTS = re.compile(
    r"\b(?:go test|pytest|vitest|jest|playwright|(?:mise|bun|npm|pnpm|yarn|make|cargo|rtk)\b[^|;&]*\btest)\b"
)
_BUILDS = re.compile(
    r"\b(?:lint|build|typecheck|tsc|vet|gofmt|fmt|golangci-lint|prettier|eslint|biome|check|compile)\b"
)
_GIT = re.compile(r"\bgit\s+(?:-C\s+\S+\s+)?([a-z-]+)")
_PATH = re.compile(r"[\w@.-]*/[\w@./*-]+|[\w-]+\.(?:go|tsx?|jsx?|py|json|md|sh|ya?ml|toml)\b")
_ONE = re.compile(r"(?:^|\s)(?:-run|-t|-k|--grep|--filter)\b")
_GIT_READS = {
    "diff": "git diff --stat",
    "show": "git diff --stat",
    "log": "git log --format=%s -5",
    "branch": "git branch",
    "add": "git add -A",
    "commit": "git commit -q --allow-empty -a -m step",
}
_WHOLE = "python3 -m unittest discover -t . -s ."

_T = TypeVar("_T")

FileOf = Callable[[str], tuple[str, str]]
"""The module (package, name) that a recorded path means in this session."""


def mapped_command(command: str, file_of: FileOf) -> str:
    """The project's command, with the recorded `| tail -N` after it."""
    core, cut = _FOLDER.sub("", command), ""
    if ending := _CUT.search(core):
        core, cut = core[: ending.start()], f" {ending[1]}"
    return _mapped(core, file_of) + cut


def is_suite(command: str) -> bool:
    """Whether a command of the project runs tests."""
    return command.startswith("python3 -m unittest")


def without_cut(command: str) -> tuple[str, slice | None]:
    """A command without what cuts its output, and which lines that leaves of it; None: all."""
    ending = _CUT.search(command)
    if ending is None:
        return command, None
    number = int(re.findall(r"\d+", ending[1])[-1])
    kept = slice(-number, None) if "tail" in ending[1] else slice(number) if "head" in ending[1] else None
    return command[: ending.start()], kept


def _mapped(core: str, file_of: FileOf) -> str:
    named = _PATH.search(core)
    if _TESTS.search(core):
        if named is not None and named[0].strip("./"):
            package, name = file_of(named[0])
            return _of_package(package) if _is_folder(named[0]) else f"python3 -m unittest {package}.test_{name}"
        return "python3 -m unittest {}.test_{}".format(*drawn(core, modules())) if _ONE.search(core) else _WHOLE
    if _BUILDS.search(core):
        return _of_package(drawn(core, PACKAGES))
    if git := _GIT.search(core):
        return _GIT_READS.get(git[1], "git status --short")
    package, name = file_of(named[0]) if named is not None else drawn(core, modules())
    return f"sed -n 1,{10 + _number(core) % 20}p {package}/{name}.py"


def _of_package(package: str) -> str:
    return f"python3 -m unittest discover -t . -s {package}"


def _is_folder(path: str) -> bool:
    return "." not in path.rstrip("./*").rpartition("/")[2]


def drawn(by: str, among: Sequence[_T]) -> _T:
    """One of them, by the digest of a text."""
    return among[_number(by) % len(among)]


def _number(text: str) -> int:
    return int.from_bytes(sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big")
