"""What a call must be like for a rule to speak about it: values of its arguments, and what its command runs.

They are looked for in the core of the call, so that `cd a && git status 2>&1` is the command `git status`.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TypeGuard

from paste_proxy.errors import InputFault
from paste_proxy.events.values import Json, canonical_text
from paste_proxy.speculation.fields import Fields
from paste_proxy.speculation.plain_commands import Argv, pipeline
from paste_proxy.speculation.plainly_reading import only_reads, only_reads_files, only_reads_quietly
from paste_proxy.speculation.sameness.sameness import Sameness

_READING: Mapping[str, Callable[[str, str], bool]] = {
    "reading": only_reads,
    "reading quietly": only_reads_quietly,
    "reading files": only_reads_files,
}
_KINDS = ", ".join(f'"{kind}"' for kind in _READING)
_MORE = "*"
"""As the last word of a pattern: any words more, or none."""
_INDEX = re.compile("0|[1-9][0-9]{0,8}")
_SEPARATOR = re.compile(r"[/\\]")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Values of which one has to stand somewhere: texts are globs of texts, all else is itself only."""

    globs: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    """Numbers, true and false, as `_written`."""

    def __str__(self) -> str:
        return ", ".join(self.globs + self.others)

    def fits(self, value: object) -> bool:
        """Whether a value is one of these. A list, an object or null is none."""
        if isinstance(value, str):
            up = _steps_up(value)
            return any(fnmatchcase(value, glob) for glob in self.globs if not up or _steps_up(glob))
        return isinstance(value, bool | int | float) and _written(value) in self.others


@dataclass(frozen=True, slots=True)
class Conditions:
    """All of them have to hold."""

    values: tuple[tuple[str, Wanted], ...] = ()
    """JSON pointers into the arguments, and what has to stand there."""
    commands: tuple[Argv, ...] | None = None
    """Patterns, of which one has to fit each program of the command; None: no matter what it runs."""
    reading: str = ""
    """The command has to be plainly one of this kind, a word of `_READING`; empty: no matter what kind."""

    def __bool__(self) -> bool:
        return bool(self.values) or self.commands is not None or bool(self.reading)

    def unmet(self, core: Mapping[str, Json], same: Sameness, named: frozenset[str] = frozenset()) -> str | None:
        """What a call does not meet; None: it is meant.

        Args:
            core: the arguments of its core.
            same: what its rule says of the core.
            named: further arguments that its rule speaks of.
        """
        for pointer, wanted in self.values:
            if not wanted.fits(at(pointer, core)):
                return f"{pointer} is none of {wanted}"
        return self._unmet_command(core, same, named) if self.commands is not None or self.reading else None

    def _unmet_command(self, core: Mapping[str, Json], same: Sameness, named: frozenset[str]) -> str | None:
        command = core.get(same.shell.command) if same.shell else None
        folder = core.get(same.shell.folder) if same.shell else None
        if not isinstance(command, str):
            return "it has no command"
        if not isinstance(folder, str | None):
            return f"its folder is {canonical_text(folder)}"
        if unknown := core.keys() - _understood(same) - self._wanted - named:
            return f"what {', '.join(sorted(unknown))} does to a command is not known"
        if self.reading and not _READING[self.reading](command, folder or ""):
            return f"{command!r} is not plainly {self.reading}"
        if self.commands is not None and not _runs_only(command, self.commands):
            return f"{command!r} runs something else than {', '.join(map(' '.join, self.commands))}"
        return None

    @property
    def _wanted(self) -> set[str]:
        """The arguments whose values are asked for, as a whole: a person knows what each of these does to a command."""
        return {_unescaped(pointer[1:]) for pointer, _ in self.values if "/" not in pointer[1:]}


ANY_CALL = Conditions()
_NOTHING = object()


def at(pointer: str, arguments: Mapping[str, Json]) -> object:
    """What a JSON pointer (RFC 6901) leads to; an object that nothing equals where it leads nowhere."""
    value: Json = dict(arguments)
    for step in pointer.split("/")[1:]:
        step = _unescaped(step)
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and _INDEX.fullmatch(step) and int(step) < len(value):
            value = value[int(step)]
        else:
            return _NOTHING
    return value


def _unescaped(step: str) -> str:
    return step.replace("~1", "/").replace("~0", "~")


def _steps_up(text: str) -> bool:
    """Whether a text, taken for a path, has a step up, so that what it begins with says nothing of where it leads."""
    return ".." in _SEPARATOR.split(text)


def _written(value: float) -> str:
    """A number, true or false as one text, so that 1 is 1.0 and not true."""
    return canonical_text(int(value) if isinstance(value, float) and value.is_integer() else value)


def _understood(same: Sameness) -> set[str]:
    """Arguments that a core may hold beside which a command does what it says. None is left of those to be ignored,
    nor of those with the value that they have by default."""
    shell = {same.shell.command, same.shell.folder} if same.shell else set[str]()
    return shell | same.seconds.keys() | same.at_most.keys()


def _runs_only(command: str, patterns: tuple[Argv, ...]) -> bool:
    programs = pipeline(command)
    return programs is not None and all(any(_is(argv, pattern) for pattern in patterns) for argv in programs)


def _is(argv: Argv, pattern: Argv) -> bool:
    if pattern[-1] == _MORE:
        pattern = pattern[:-1]
        argv = argv[: len(pattern)]
    return len(argv) == len(pattern) and all(map(fnmatchcase, argv, pattern))


def beginning(argv: Argv, patterns: Iterable[Argv]) -> int | None:
    """How many words of a program are those of the first pattern that it fits, without its last `*`; None: of none."""
    fitting = (pattern for pattern in patterns if _is(argv, pattern))
    return next((len(pattern) - (pattern[-1] == _MORE) for pattern in fitting), None)


def read_conditions(fields: Fields, *, shell: bool) -> Conditions:
    """The conditions of a rule: its keys `when` and `commands`.

    Args:
        shell: whether the rule says which argument is a command.

    Raises:
        InputFault: one is malformed.
    """
    commands = fields.value("commands")
    if commands is not None and not shell:
        raise InputFault(
            fields.place_of("commands"), "no argument that is the command", "same = { shell = ... } as well"
        )
    if isinstance(commands, str) and commands in _READING:
        return Conditions(_values(fields), reading=commands)
    return Conditions(_values(fields), None if commands is None else _patterns(fields, commands))


def _patterns(fields: Fields, commands: object) -> tuple[Argv, ...]:
    listed = commands if isinstance(commands, list) else [commands]
    patterns = [tuple(one.split()) for one in listed if isinstance(one, str) and one.strip()]
    if not patterns or len(patterns) < len(listed):
        raise fields.fault("commands", f'{_KINDS}, or patterns of words as in ["git status", "npm test *"]')
    return tuple(patterns)


def _values(fields: Fields) -> tuple[tuple[str, Wanted], ...]:
    table = fields.value("when")
    if table is None:
        return ()
    if not isinstance(table, dict) or not table:
        raise fields.fault("when", 'a table as in { "/path" = "src/*", "/options/mode" = ["r", "rb"] }')
    return tuple((pointer_of(fields, "when", name), _wanted(fields, name, value)) for name, value in table.items())


def pointer_of(fields: Fields, key: str, name: str) -> str:
    """The JSON pointer that a name in a table of arguments stands for.

    Raises:
        InputFault: for none.
    """
    pointer = name if name.startswith("/") else f"/{name}"
    if pointer == "/" or "~" in pointer.replace("~0", "").replace("~1", ""):
        raise InputFault(fields.place_of(f"{key}.{name}"), repr(name), "an argument's name, or a JSON pointer")
    return pointer


def _wanted(fields: Fields, name: str, value: object) -> Wanted:
    listed = value if isinstance(value, list) else [value]
    plain = [one for one in listed if _is_plain(one)]
    if not plain or len(plain) < len(listed):
        raise InputFault(
            fields.place_of(f"when.{name}"), repr(value), "a glob, a number, true or false, or a list of such"
        )
    return Wanted(
        tuple(one for one in plain if isinstance(one, str)),
        tuple(_written(one) for one in plain if not isinstance(one, str)),
    )


def _is_plain(value: object) -> TypeGuard[str | int | float]:
    return isinstance(value, str | int | float)
