"""Programs that only read files, and the options with which they do: every option by its name, none by its look.

Left out are options that write or run anything, follow links, wait, or ask what time it is. Standard library only.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from paste_proxy.speculation.plain_commands import Argv, pipeline

_NUMBER, _FIELDS = re.compile(r"\d{1,9}"), re.compile(r"[\d,-]+")
_ANY, _CHARACTER = re.compile(r"[^-].*"), re.compile(r"[^-]")
_MANY = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What a program may be given."""

    flags: str = ""
    """Letters of options without a value; several may share a dash."""
    valued: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    """Letters of options with one, in the same word or the next."""
    words: Mapping[str, re.Pattern[str] | None] = field(default_factory=dict)
    """Options of more letters, after one dash, and what the next word is to be."""
    long: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    """Options after two dashes, with their value behind `=`."""
    number: bool = False
    """Whether a number after a dash is an option."""
    source: range = range(1, _MANY)
    """How many operands it may have as the first of a pipeline."""
    filter: range = range(1)
    """And as any other."""
    spares: str = ""
    """A flag with which it needs one operand less."""


_NOT_AFTER = range(0)
_GLOBS = {f"--{name}": _ANY for name in ("include", "exclude", "exclude-dir")}
_FIND: dict[str, re.Pattern[str] | None] = {
    **dict.fromkeys(("-print", "-empty", "-not", "-o", "-or", "-a", "-prune")),
    **dict.fromkeys(("-name", "-iname", "-path", "-ipath"), _ANY),
    **dict.fromkeys(("-maxdepth", "-mindepth"), _NUMBER),
    "-type": re.compile("[fdl]"),
    "-size": re.compile(r"[+-]?\d{1,9}[ckMG]?"),
}
_PROGRAMS: Mapping[str, Program] = {
    "cat": Program(flags="n"),
    "cut": Program(flags="s", valued={"b": _FIELDS, "c": _FIELDS, "d": _CHARACTER, "f": _FIELDS}),
    "du": Program(
        flags="achkms", valued={"d": _NUMBER}, long={"--max-depth": _NUMBER}, source=range(_MANY), filter=_NOT_AFTER
    ),
    "find": Program(words=_FIND, source=range(_MANY), filter=_NOT_AFTER),
    "grep": Program(
        flags="cEFhHilLnoqrsvwx",
        valued=dict.fromkeys("ABCm", _NUMBER),
        long=_GLOBS,
        source=range(2, _MANY),
        filter=range(1, 2),
        spares="r",
    ),
    "head": Program(valued=dict.fromkeys("cn", _NUMBER), number=True),
    "ls": Program(flags="1aAdFhilnprRSt", source=range(_MANY), filter=_NOT_AFTER),
    "md5sum": Program(),
    "sha256sum": Program(),
    "sort": Program(
        flags="bdfghiMnrsuV", valued={"k": re.compile(r"[\d.,bdfghiMnrV]*\d[\d.,bdfghiMnrV]*"), "t": _CHARACTER}
    ),
    "tail": Program(valued=dict.fromkeys("cn", re.compile(r"\+?\d{1,9}")), number=True),
    "tr": Program(flags="cds", source=range(0), filter=range(1, 3)),
    "uniq": Program(flags="cdiu", source=range(1, 2)),  # a second file would be written
    "wc": Program(flags="clLmw"),
}
NAMES = frozenset(_PROGRAMS)
_AT_ONCE = frozenset({"cat", "head", "tail"})


def reading(command: str) -> tuple[Argv, ...] | None:
    """The words of each program of a command line that does nothing but read files; None for any other.

    Alone, `cat` and its like are left out: they are over at once, and some agents note which files were shown whole.
    """
    stages = pipeline(command)
    if stages is None or (len(stages) == 1 and stages[0][0] in _AT_ONCE):
        return None
    return stages if all(_reads(stage, first=not at) for at, stage in enumerate(stages)) else None


def _reads(argv: Argv, *, first: bool) -> bool:
    program = _PROGRAMS.get(argv[0])
    if program is None:
        return False
    rest, flags, operands = iter(argv[1:]), set[str](), 0
    for word in rest:
        if not word.startswith("-"):
            operands += 1
        elif not _option(program, word, rest, flags):
            return False
    if first and program.spares and program.spares in flags:
        operands += 1
    return operands in (program.source if first else program.filter)


def _option(program: Program, word: str, rest: Iterator[str], flags: set[str]) -> bool:
    """Whether a word that begins with a dash may be there; takes its value from the rest and notes flags."""
    if word in program.words:
        value = program.words[word]
        return value is None or _next(value, rest)
    name, equals, said = word.partition("=")
    if name in program.long:
        return bool(equals) and program.long[name].fullmatch(said) is not None
    letters = word[1:]
    if program.number and _NUMBER.fullmatch(letters):
        return True
    for at, letter in enumerate(letters):
        if letter in program.valued:
            inside = letters[at + 1 :]
            value = program.valued[letter]
            return value.fullmatch(inside) is not None if inside else _next(value, rest)
        if letter not in program.flags:
            return False
        flags.add(letter)
    return bool(letters)


def _next(value: re.Pattern[str], rest: Iterator[str]) -> bool:
    return value.fullmatch(next(rest, "\n")) is not None
