"""A call in a changed form that has no effect of its own: a dry run, or a run against something that does not count.

A rule says how its calls are changed. Whoever writes it knows that the tool, asked so, changes nothing; here no form is
made that says less than the rule does: what is to be set is set, and the option of a command stands where its program
looks for it, before all that the call gives the program, unless the call speaks of that option itself.

It counts as a call that is run ahead: for `calls_per_day` and the other limits of its rule, too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from shlex import join

from paste_proxy.errors import InputFault
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.values import Json, canonical_text
from paste_proxy.speculation.conditions import Conditions, beginning, pointer_of
from paste_proxy.speculation.fields import Fields
from paste_proxy.speculation.plain_commands import pipeline
from paste_proxy.speculation.sameness.sameness import Sameness

_KEYS = ("set", "option")
_EXAMPLE = 'a table as in { set = { dry_run = true } }, or for a command { option = "--dry-run" }'


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal:
    """How calls of a rule are changed."""

    sets: Mapping[str, Json] = field(default_factory=dict)
    """JSON pointers into the arguments, and what is put there."""
    option: tuple[str, ...] = ()
    """Words that the command's program is given before all others."""

    @property
    def arguments(self) -> frozenset[str]:
        """The arguments that it sets, or sets something within."""
        return frozenset(_steps(pointer)[0] for pointer in self.sets)

    def of(self, invocation: Invocation, conditions: Conditions, same: Sameness) -> Invocation | None:
        """The changed form of a call; None where there is none that is another call.

        Args:
            conditions: of the rule, whose patterns say where the options of a command begin.
            same: what the rule says of the call's core, which is what is changed.
        """
        core = same.core(invocation)
        arguments: Mapping[str, Json] | None = core.arguments
        for pointer, value in self.sets.items():
            arguments = None if arguments is None else _put(arguments, _steps(pointer), value)
        if arguments is not None and self.option and same.shell is not None:
            command = self._optioned(arguments.get(same.shell.command), conditions)
            arguments = None if command is None else {**arguments, same.shell.command: command}
        if arguments is None:
            return None
        changed = replace(core, arguments=dict(arguments))
        return None if changed.key == core.key else changed

    def _optioned(self, command: Json, conditions: Conditions) -> str | None:
        programs = pipeline(command) if isinstance(command, str) else None
        if programs is None or len(programs) != 1:
            return None
        (argv,) = programs
        words = beginning(argv, conditions.commands or ())
        if words is None or any(_speaks_of(self.option[0], word) for word in argv):
            return None
        return join([*argv[:words], *self.option, *argv[words:]])


def _speaks_of(option: str, word: str) -> bool:
    """Whether a word of the call's own may undo the option: `--no-dry-run`, `--dry-run=false`."""
    return word.startswith("-") and option.lstrip("-").partition("=")[0] in word


def _put(arguments: Mapping[str, Json], steps: Sequence[str], value: Json) -> dict[str, Json] | None:
    """The arguments with a value somewhere; None where there is nothing to put it into."""
    if len(steps) > 1:
        inner = arguments.get(steps[0])
        value = _put(inner, steps[1:], value) if isinstance(inner, dict) else None
        if value is None:
            return None
    return {**arguments, steps[0]: value}


def _steps(pointer: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def read_rehearsal(fields: Fields, conditions: Conditions) -> Rehearsal | None:
    """The key `rehearse` of a policy's rule; None: it does not say.

    Raises:
        InputFault: it is malformed.
    """
    table = fields.value("rehearse")
    if table is None:
        return None
    if not isinstance(table, dict) or not table:
        raise fields.fault("rehearse", _EXAMPLE)
    inner = Fields(table, fields.place_of("rehearse"))
    inner.refuse_unknown(_KEYS)
    return Rehearsal(sets=_sets(inner), option=_option(inner, conditions))


def _sets(fields: Fields) -> Mapping[str, Json]:
    table = fields.value("set")
    if table is None:
        return {}
    if not isinstance(table, dict) or not table:
        raise fields.fault("set", "a table of arguments, as in { dry_run = true }")
    for name, value in table.items():
        try:
            canonical_text(value)
        except (TypeError, ValueError) as fault:
            raise InputFault(fields.place_of(f"set.{name}"), repr(value), "a value that JSON has, too") from fault
    return {pointer_of(fields, "set", name): value for name, value in table.items()}


def _option(fields: Fields, conditions: Conditions) -> tuple[str, ...]:
    value = fields.value("option")
    if value is None:
        return ()
    words = tuple(value.split()) if isinstance(value, str) else ()
    if not words or not words[0].startswith("-") or pipeline(join(words)) != (words,):
        raise fields.fault("option", 'an option of the command\'s program, as in "--dry-run"')
    if conditions.commands is None:
        raise fields.fault("option", "patterns in `commands` beside it, which say after which words it stands")
    return words
