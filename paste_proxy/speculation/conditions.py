"""What a call must be like for a rule to speak about it: values of its arguments, and what its command runs.

They are looked for in the core of the call, so that `cd a && git status 2>&1` is the command `git status`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TypeAlias, TypeGuard

from paste_proxy.errors import InputFault
from paste_proxy.events.values import Json, canonical_text
from paste_proxy.speculation.fields import Fields
from paste_proxy.speculation.plain_commands import Argv, pipeline
from paste_proxy.speculation.plainly_reading import only_reads, only_reads_files

Globs: TypeAlias = tuple[str, ...]

_READING: Mapping[str, Callable[[str], bool]] = {"reading": only_reads, "reading files": only_reads_files}
_MORE = "*"
"""As the last word of a pattern: any words more, or none."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """All of them have to hold."""

    values: tuple[tuple[str, Globs], ...] = ()
    """JSON pointers into the arguments; one of the globs has to fit what stands there."""
    commands: tuple[Argv, ...] | None = None
    """Patterns, of which one has to fit each program of the command; None: no matter what it runs."""
    reading: str = ""
    """The command has to be plainly one of this kind, a word of `_READING`; empty: no matter what kind."""

    def __bool__(self) -> bool:
        return bool(self.values) or self.commands is not None or bool(self.reading)

    def unmet(self, arguments: Mapping[str, Json], command: Json) -> str | None:
        """What a call with these arguments, and this command if it is a shell's, does not meet; None: it is meant."""
        for pointer, globs in self.values:
            if not _fits(at(pointer, arguments), globs):
                return f"{pointer} is none of {', '.join(globs)}"
        if self.commands is None and not self.reading:
            return None
        if not isinstance(command, str):
            return "it has no command"
        if self.reading and not _READING[self.reading](command):
            return f"{command!r} is not plainly {self.reading}"
        if self.commands is not None and not _runs_only(command, self.commands):
            return f"{command!r} runs something else than {', '.join(map(' '.join, self.commands))}"
        return None


ANY_CALL = Conditions()
_NOTHING = object()


def at(pointer: str, arguments: Mapping[str, Json]) -> object:
    """What a JSON pointer (RFC 6901) leads to; an object that nothing equals where it leads nowhere."""
    value: Json = dict(arguments)
    for step in pointer.split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return _NOTHING
    return value


def _fits(value: object, globs: Globs) -> bool:
    if value is _NOTHING:
        return False
    text = value if isinstance(value, str) else canonical_text(value)  # type: ignore[arg-type]
    return any(fnmatchcase(text, glob) for glob in globs)


def _runs_only(command: str, patterns: tuple[Argv, ...]) -> bool:
    programs = pipeline(command)
    return programs is not None and all(any(_is(argv, pattern) for pattern in patterns) for argv in programs)


def _is(argv: Argv, pattern: Argv) -> bool:
    if pattern[-1] == _MORE:
        pattern = pattern[:-1]
        argv = argv[: len(pattern)]
    return len(argv) == len(pattern) and all(map(fnmatchcase, argv, pattern))


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
        raise fields.fault(
            "commands", '"reading", "reading files", or patterns of words as in ["git status", "npm test *"]'
        )
    return tuple(patterns)


def _values(fields: Fields) -> tuple[tuple[str, Globs], ...]:
    table = fields.value("when")
    if table is None:
        return ()
    if not isinstance(table, dict) or not table:
        raise fields.fault("when", 'a table as in { "/path" = "src/*", "/options/mode" = ["r", "rb"] }')
    return tuple((_pointer(fields, name), _globs(fields, name, value)) for name, value in table.items())


def _pointer(fields: Fields, name: str) -> str:
    pointer = name if name.startswith("/") else f"/{name}"
    if pointer == "/" or "~" in pointer.replace("~0", "").replace("~1", ""):
        raise InputFault(fields.place_of(f"when.{name}"), repr(name), "an argument's name, or a JSON pointer")
    return pointer


def _globs(fields: Fields, name: str, value: object) -> Globs:
    listed = value if isinstance(value, list) else [value]
    globs = [one if isinstance(one, str) else canonical_text(one) for one in listed if _is_plain(one)]
    if not globs or len(globs) < len(listed):
        raise InputFault(
            fields.place_of(f"when.{name}"), repr(value), "a glob, a number, true or false, or a list of such"
        )
    return tuple(globs)


def _is_plain(value: object) -> TypeGuard[str | int | float]:
    return isinstance(value, str | int | float)
