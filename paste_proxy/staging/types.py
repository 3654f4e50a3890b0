"""What is staged, what came of it, and why it may not be committed."""

from dataclasses import dataclass
from enum import StrEnum


class Tier(StrEnum):
    """By which means this machine can stage, found out by trying (`probe`)."""

    ROOT = "root"
    """Overlays in private namespaces; directories of the workspace may be renamed."""
    USER = "user"
    """The same inside a user namespace; a rename of an existing directory, which fails there, is seen and refused."""
    NONE = "none"
    """Not at all: commands are run when they are asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """A command, with everything of ours that its behaviour may depend on. Equal ones are the same run."""

    argv: tuple[str, ...]
    workspace: str
    """Absolute, without links in it."""
    cwd: str
    """Absolute, in the workspace."""
    env: tuple[tuple[str, str], ...]
    """All of it, by name."""
    umask: int
    timeout_s: float
    """A normal run's own; one that comes to it is not committed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlay:
    """One directory of the machine as the command sees it: its own, with changes on top."""

    path: str
    upper: str
    """Where the changes lie."""
    work: str
    """The kernel's scratch, on the file system of `upper`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A staged command that came to its end."""

    exit_code: int
    """As `subprocess` has it: negative if a signal ended it."""
    output: bytes
    """What it wrote to stdout and stderr, one pipe for both, in order."""
    ran_s: float
    poisons: tuple[str, ...]
    """Why it may not be committed, in words: left-over processes, a way out of the view, a limit that it came to."""
    looked_at: frozenset[str]
    """Paths outside of the workspace and of the machine's own (`/proc`, `/sys`, `/dev`) that it opened or looked at.
    Not directories above the workspace of which it only asked what they are."""
    absent: frozenset[str] = frozenset()
    """Paths there that led it nowhere, or where it has made something itself."""
    cpu_s: float | None = None
    """CPU seconds of all its processes, and of those that watched it. None: they were not counted."""


class Refused(Exception):
    """Effects that are not committed, with the reason in words. The command is then run normally."""
