"""Command lines that need no shell to be understood: every shell splits them alike, and expands nothing in them.

    command = word *((" " / " | ") word)
    word    = 1*(plain / "'" quoted "'" / DQUOTE quoted DQUOTE)

No program begins with a word that assigns (`NAME=VALUE`, `NAME+=VALUE`): what runs is a word after it. What is not of
this language is not looked into at all. Standard library only.
"""

import re

Argv = tuple[str, ...]

_PLAIN = r"[A-Za-z0-9_./,:@%+=-]"
_QUOTED = r"[A-Za-z0-9_./,:@%+=^* -]*"
"""Within quotes of either kind; characters that mean something to a shell outside of them are few here, on purpose."""
_WORD = rf"(?:{_PLAIN}|'{_QUOTED}'|\"{_QUOTED}\")+"
_COMMAND = re.compile(rf"{_WORD}(?:(?: | \| ){_WORD})*")
_PART = re.compile(rf"({_WORD})( \| | |$)")
_QUOTES = re.compile("['\"]")
_ASSIGNS = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_LONGEST = 2_000


def pipeline(command: str) -> tuple[Argv, ...] | None:
    """The words of each program of a pipeline, as the programs get them; None where the text is not that plain."""
    if len(command) > _LONGEST or not _COMMAND.fullmatch(command):
        return None
    stages: list[list[str]] = [[]]
    for part in _PART.finditer(command):
        stages[-1].append(_QUOTES.sub("", part[1]))  # no quote can stand within quotes of the other kind
        if part[2] == " | ":
            stages.append([])
    return None if any(_ASSIGNS.match(stage[0]) for stage in stages) else tuple(map(tuple, stages))
