"""A shell's command line taken apart, as far as the output of one command gives that of another.

What is not plainly so is left together: a command whose quoting is not clear, or that has an expansion, a
redirection or a second program where only one program may stand, is its own core. Blanks are spaces and tabs, digits
and letters are those of ASCII, as for a shell. Every expression takes time in proportion to the command's length.
"""

import re
from dataclasses import dataclass
from posixpath import join, normpath
from typing import Literal, TypeAlias

End: TypeAlias = Literal["head", "tail"]

_QUOTED = re.compile(r"""\\.|\$(?=['"])|'[^']*'|"(?:[^"\\]|\\.)*\"""", re.DOTALL)
_EXPANDED = re.compile(r"\$[\w{@*#?!$-]")
_UNCLEAR = re.compile(r"[`\n'\"\\]|\$\(|<<|(?:^|\s)#|(?<![&>])&(?![&>])|>&(?!1)")
"""Substitutions, several lines, comments, jobs in the background, quotes that do not close."""
_OF_BASH = "BASH_"
"""Variables that hold the command itself, or how deep in its shells it runs."""
_CHANGE = r"""[ \t]*cd[ \t]+(?:"([^"$`\\]+)"|'([^']+)'|([\w./@%+,=:][\w./@%+,=:-]*))[ \t]*&&[ \t]*(?=[^ \t])"""
_FOLDER = re.compile(_CHANGE, re.ASCII)
_DEEP = re.compile(rf"(?:{_CHANGE}){{5}}", re.ASCII)
"""More changes of the folder than anybody needs; each that is taken off is a look at all that is left."""
_TELLS_OF_IT = re.compile(r"OLDPWD|\bcd\s+-|~-|\b(?:dirs|pushd|popd|env|printenv|set|declare|typeset|export)\b")
"""What may show that a folder was changed to, and from where."""
_MERGED = re.compile(r"(?<![ \t])[ \t]+2>&1[ \t]*\Z")
_SILENT = re.compile(r"(?<![ \t])[ \t]+2>[ \t]*/dev/null[ \t]*\Z")
_CUT = re.compile(r"(?<![ \t])[ \t]*\|[ \t]*(head|tail)(?:[ \t]+(?:-n[ \t]*|-)([0-9]{1,9}))?[ \t]*\Z")
_USUAL = 10
"""Lines that `head` and `tail` give of themselves."""
_BETWEEN = re.compile(r"[|;]|&&")
_NOT_ONE = re.compile(r"[;&|<>()$]|^\s*[!{]")
_PROGRAM = re.compile(r"(?:[ \t]*\w+=[^ \t]*[ \t])*[ \t]*([^ \t=]+)(?=[ \t]|\Z)", re.ASCII)
_OF_THE_SHELL = re.compile(
    r"if|while|until|for|select|case|function|time|coproc|\[\[|exec|eval|source|\.|exit|return|break|continue|set|shopt|trap|"
    r"jobs|times|wait|bg|fg|kill|suspend|disown|history|hash|alias|unalias|ulimit|umask|read|logout|env|printenv|export|"
    r"declare|typeset|builtin|command"
)
"""First words after which a command may mean something else in a pipe than alone."""
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_BLANKS = " \t"
_LONGEST = 10_000
"""Characters of a command that is looked into."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The first or the last lines of an output."""

    end: End
    lines: int

    def of(self, output: str) -> str:
        """What `head` or `tail` gives of it. Lines end in line feeds; the last one may end in none."""
        lines = _LINE.findall(output)
        return "".join(lines[: self.lines] if self.end == "head" else lines[max(0, len(lines) - self.lines) :])


def plain(command: str) -> str:
    """The command without what changes nothing where output and errors go to one pipe: a last `2>&1`."""
    mask = _masked(command)
    if mask is None:
        return command
    merged = _MERGED.search(mask)
    last = _BETWEEN.split(mask[: merged.start()])[-1] if merged is not None else ""
    if merged is None or not last.strip(_BLANKS) or re.search("[<>]", last):
        return _trimmed(command, mask)
    return _trimmed(command, mask[: merged.start()])


def folder_of(command: str, folder: str | None) -> tuple[str, str] | None:
    """What runs, and in which folder, of `cd FOLDER && COMMAND` run in `folder` (None: where commands usually run).

    The folder is lexically normal, as the shell's own idea of it is. Every folder on the way to it is on the way to the
    result, too: if one is not there, nothing runs in either.
    """
    found, mask = _FOLDER.match(command), _masked(command)
    if found is None or mask is None or _DEEP.match(command) or _TELLS_OF_IT.search(command[found.end() :]):
        return None
    named = next(group for group in found.groups() if group is not None)
    steps = [step for step in named.split("/") if step not in ("", ".")]
    up = steps.count("..")
    if ".." in steps[up:] or (folder is not None and (up or named.startswith("/"))):
        return None
    return command[found.end() :], normpath(join(folder or "", named))


def cut_of(command: str) -> tuple[str, Cut] | None:
    """What runs, and which lines are taken of its output and errors, of `COMMAND 2>&1 | tail -5` and its like.

    COMMAND is one program, so that nothing of it writes past the pipe. With `2>/dev/null` in place of `2>&1` that
    stays a part of what runs.
    """
    mask = _masked(command)
    found = _CUT.search(mask) if mask is not None else None
    if mask is None or found is None:
        return None
    before = mask[: found.start()]
    merged = _MERGED.search(before)
    errors = merged or _SILENT.search(before)
    if errors is None or not _is_one_program(command, before[: errors.start()]):
        return None
    end: End = "head" if found[1] == "head" else "tail"
    lines = int(found[2]) if found[2] else _USUAL
    return _trimmed(command, before[: merged.start()] if merged else before), Cut(end, lines)


def _masked(command: str) -> str | None:
    """The command, of the same length, with `_` for all that is quoted and `$` for what is quoted and expanded.

    None where it is not clear what is quoted, or that would be long to find out.
    """
    if len(command) > _LONGEST:
        return None
    mask = _QUOTED.sub(_mask, command)
    return None if _UNCLEAR.search(mask) or _OF_BASH in command else mask


def _mask(quoted: re.Match[str]) -> str:
    text = quoted[0]
    if text == "$" or (text[0] == '"' and ("`" in text or "$(" in text)):
        return "`" * len(text)
    return ("$" if text[0] == '"' and _EXPANDED.search(text) else "_") * len(text)


def _trimmed(command: str, mask: str) -> str:
    """The beginning of a command that a mask covers, without the white space around it."""
    return command[len(mask) - len(mask.lstrip(_BLANKS)) : len(mask.rstrip(_BLANKS))]


def _is_one_program(command: str, mask: str) -> bool:
    """Whether a command, as far as the mask covers it, is one program that does the same in a pipe as alone."""
    program = _PROGRAM.match(mask)
    if program is None or _NOT_ONE.search(mask):
        return False
    named = command[program.start(1) : program.end(1)]
    return named == program[1] and not _OF_THE_SHELL.fullmatch(named)
