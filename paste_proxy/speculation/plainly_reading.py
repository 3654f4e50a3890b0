"""Command lines that plainly have no effect: they read files, or what git has recorded, or say where they are.

Plainly means that every shell splits the line alike and that each program, each of its options and its number of
operands is known by name. A shell may know another program by a name, an alias may, and git runs what its configuration
asks for (an outside diff, a monitor of files): then the line does what its user has put there.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from paste_proxy.speculation.device_files import may_name_devices
from paste_proxy.speculation.plain_commands import Argv, pipeline
from paste_proxy.speculation.program_options import MANY, NEVER, NUMBER, Program
from paste_proxy.speculation.reading_git import git_reads, renews_index
from paste_proxy.speculation.reading_programs import reads

_FORMAT = re.compile(r"(?:%[aAfFgGhinNsuUyY]|[\w :,./-])+")
"""Of `stat`: without the time of the last access, which reading moves."""
_PATHS_IN_JSON = re.compile(r"\.[\w.]*(?:,\.[\w.]*)*")
"""Of `jq`: no functions, of which some ask what time it is."""
_OTHERS: Mapping[str, Program] = {
    "basename": Program(flags="a", source=range(1, 3), filter=NEVER),
    "diff": Program(
        flags="abBdiNpqrstuwy",
        valued=dict.fromkeys("UW", NUMBER),
        words=dict.fromkeys(("--brief", "--recursive", "--unified", "--side-by-side", "--color=never")),
        source=range(2, 3),
        filter=NEVER,
    ),
    "dirname": Program(filter=NEVER),
    "echo": Program(flags="neE", source=range(MANY), filter=NEVER),
    "file": Program(flags="bi", words=dict.fromkeys(("--brief", "--mime-type", "--mime-encoding")), filter=NEVER),
    "jq": Program(flags="acjrsMS", first=_PATHS_IN_JSON, source=range(2, MANY), filter=range(1, 2)),
    "pwd": Program(flags="LP", source=range(1), filter=NEVER),
    "stat -c": Program(first=_FORMAT, source=range(2, MANY), filter=NEVER),
    "uname": Program(flags="amnoprsv", source=range(1), filter=NEVER),
    "which": Program(flags="a", filter=NEVER),
    "whoami": Program(source=range(1), filter=NEVER),
}


def only_reads_files(command: str, folder: str = "") -> bool:
    """Whether a command line is plainly one without an effect, and does not ask git.

    To renew its index git takes a lock for a moment, which another command of git may come upon.
    """
    stages = pipeline(command)
    return stages is not None and stages[0][0] != "git" and only_reads(command, folder)


def only_reads_quietly(command: str, folder: str = "") -> bool:
    """Whether a command line is plainly one without an effect, and does not renew git's index beside."""
    stages = pipeline(command)
    return stages is not None and not renews_index(stages[0]) and only_reads(command, folder)


@lru_cache(maxsize=4_096)
def only_reads(command: str, folder: str = "") -> bool:
    """Whether a command line is plainly one without an effect.

    Args:
        folder: where it runs; empty where that is not known.
    """
    stages = pipeline(command)
    if stages is None or may_name_devices(stages, folder):
        return False
    return all(_reads(stage, first=not at) for at, stage in enumerate(stages))


def _reads(argv: Argv, *, first: bool) -> bool:
    if reads(argv, first=first) or (first and git_reads(argv)):
        return True
    return any(
        other.takes(argv[words:], first=first)
        for words in (1, 2)
        if (other := _OTHERS.get(" ".join(argv[:words]))) is not None
    )
