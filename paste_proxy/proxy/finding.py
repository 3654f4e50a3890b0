"""What a check of `doctor` comes to."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class Level(StrEnum):
    """How a check came out; only `FAIL` means that something will not work."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report."""

    level: Level
    what: str
    """The thing looked at: `llm /v1`, `mcp files`, `policy builtin:x`."""
    found: str
    mend: str = ""
    """What to do about it."""


def counted(number: int, noun: str) -> str:
    """`1 rule`, `2 rules`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def writable(what: str, folder: Path) -> Finding:
    """Whether a folder, made where there is none, takes files."""
    probe_file = folder / ".paste-proxy-doctor"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        probe_file.touch(mode=0o600)
        probe_file.unlink()
    except OSError as fault:
        return Finding(Level.FAIL, what, f"{folder}: {fault.strerror}", "name a folder that can be written")
    return Finding(Level.OK, what, f"{folder} can be written")
