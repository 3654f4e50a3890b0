"""Programs that only read files, and what they may be given.

Left out are options that write or run anything, follow links, wait, or ask what time it is or when a file was read
last. Standard library only.
"""

import re
from collections.abc import Mapping

from paste_proxy.speculation.device_files import may_name_devices
from paste_proxy.speculation.plain_commands import Argv, pipeline
from paste_proxy.speculation.program_options import ANY, MANY, NEVER, NUMBER, Program

_FIELDS = re.compile(r"[\d,-]+")
_CHARACTER = re.compile(r"[^-]")
_GLOBS = {f"--{name}": ANY for name in ("include", "exclude", "exclude-dir")}
_LINES = re.compile(r"\d{1,9}(?:,\d{1,9})?p")
"""Of `sed`: print these lines. What else its scripts can do is to write and to run."""
_FIND: dict[str, re.Pattern[str] | None] = {
    **dict.fromkeys(("-print", "-empty", "-not", "-o", "-or", "-a", "-prune")),
    **dict.fromkeys(("-name", "-iname", "-path", "-ipath"), ANY),
    **dict.fromkeys(("-maxdepth", "-mindepth"), NUMBER),
    "-type": re.compile("[fdl]"),
    "-size": re.compile(r"[+-]?\d{1,9}[ckMG]?"),
}
_RG: dict[str, re.Pattern[str] | None] = {
    **dict.fromkeys(("--files-with-matches", "--files-without-match", "--count", "--line-number", "--no-heading")),
    **dict.fromkeys(("--hidden", "--no-ignore", "--ignore-case", "--fixed-strings", "--word-regexp", "--heading")),
    **dict.fromkeys(("--glob", "--iglob"), re.compile(r"!?[^-].*")),
    **dict.fromkeys(("--type", "--type-not"), re.compile("[a-z]+")),
    **dict.fromkeys(("--max-count", "--after-context", "--before-context", "--context", "--max-depth"), NUMBER),
}
_SUM = Program()
_PROGRAMS: Mapping[str, Program] = {
    "cat": Program(flags="n"),
    "cut": Program(flags="s", valued={"b": _FIELDS, "c": _FIELDS, "d": _CHARACTER, "f": _FIELDS}),
    "du": Program(flags="achkms", valued={"d": NUMBER}, long={"--max-depth": NUMBER}, source=range(MANY), filter=NEVER),
    "find": Program(words=_FIND, source=range(MANY), filter=NEVER),
    "grep": Program(
        flags="cEFhHilLnoqrsvwx",
        valued=dict.fromkeys("ABCm", NUMBER),
        long=_GLOBS,
        source=range(2, MANY),
        filter=range(1, 2),
        spares="r",
    ),
    "head": Program(valued=dict.fromkeys("cn", NUMBER), number=True),
    "ls": Program(flags="1aAdFhilnprRSt", source=range(MANY), filter=NEVER),
    "md5sum": _SUM,
    "nl": Program(valued={"b": re.compile("[atn]"), "w": NUMBER, "v": NUMBER, "n": re.compile("ln|rn|rz")}),
    "rg": Program(
        flags="cFHiIlnNosSvwx",
        valued={**dict.fromkeys("ABCm", NUMBER), "g": re.compile(r"!?[^-].*"), "t": re.compile("[a-z]+")},
        words=_RG,
        source=range(2, MANY),  # without a path it may read its input instead
        filter=range(1, 2),
    ),
    "sed": Program(flags="nE", first=_LINES, source=range(2, MANY), filter=range(1, 2)),
    "sha1sum": _SUM,
    "sha256sum": _SUM,
    "sort": Program(
        flags="bdfghiMnrsuV", valued={"k": re.compile(r"[\d.,bdfghiMnrV]*\d[\d.,bdfghiMnrV]*"), "t": _CHARACTER}
    ),
    "tail": Program(valued=dict.fromkeys("cn", re.compile(r"\+?\d{1,9}")), number=True),
    "tr": Program(flags="cds", source=NEVER, filter=range(1, 3)),
    "tree": Program(
        flags="adfiFnpsu",
        valued={"L": NUMBER, "I": ANY, "P": ANY},
        words=dict.fromkeys(("--dirsfirst", "--noreport", "--prune", "--gitignore")),
        source=range(MANY),
        filter=NEVER,
    ),
    "uniq": Program(flags="cdiu", source=range(1, 2)),  # a second file would be written
    "wc": Program(flags="clLmw"),
}
NAMES = frozenset(_PROGRAMS)
_AT_ONCE = frozenset({"cat", "head", "nl", "sed", "tail"})


def reading(command: str) -> tuple[Argv, ...] | None:
    """The words of each program of a command line that does nothing but read files; None for any other.

    Alone, `cat` and its like are left out: they are over at once, and some agents note which files were shown whole.
    """
    stages = pipeline(command)
    if stages is None or may_name_devices(stages) or (len(stages) == 1 and stages[0][0] in _AT_ONCE):
        return None
    return stages if all(reads(stage, first=not at) for at, stage in enumerate(stages)) else None


def reads(argv: Argv, *, first: bool) -> bool:
    """Whether a program of a pipeline, its first or any other, does nothing but read files."""
    program = _PROGRAMS.get(argv[0])
    return program is not None and program.takes(argv[1:], first=first)
