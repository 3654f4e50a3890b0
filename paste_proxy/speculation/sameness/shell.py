"""A command with part of its output, from the same command with all of it.

This holds for a tool that runs each command by a shell of its own: without `pipefail` and `CDPATH`, output and
errors in one pipe that is read to its end, in the folder that is named, resolved lexically and told to the shell
as `PWD`, and that answers in the form of `answer_of`.
"""

import re
from dataclasses import dataclass

from paste_proxy.events.values import Json
from paste_proxy.speculation.sameness.command_line import Cut, cut_of, folder_of, plain
from paste_proxy.speculation.sameness.lines import Arguments

_ANSWER = re.compile(r"\[exit (\d{1,3})\]\n", re.ASCII)
_PROGRAMS_OWN = 125
"""Above this it is the shell that says why a command did not run, or what it died of: in a pipe perhaps otherwise."""

_MISREAD = 2
_NO_SYNTAX = re.compile("syntax error|unexpected", re.IGNORECASE)
"""What a shell says of a command that it cannot read, and shows the command with it."""


def answer_of(exit_code: int, output: str) -> str:
    """The text of a command's answer: `[exit N]` on a line of its own, then what it wrote, as it wrote it.

    Args:
        exit_code: 0 to 255; of a command that a signal ended, 128 and the signal's number.
    """
    return f"[exit {exit_code}]\n{output}"


@dataclass(frozen=True, slots=True)
class Shell:
    """Which arguments of a tool are the command and, if it takes one, the folder."""

    command: str
    folder: str = ""

    def core(self, arguments: Arguments) -> dict[str, Json]:
        """The arguments that give all of the output, the folder given apart."""
        core, parted = self._apart(arguments)
        if parted is not None:
            core[self.command] = parted[0]
        return core

    def early(self, arguments: Arguments) -> bool:
        """Whether these may be answered before the whole command would have ended."""
        _, parted = self._apart(arguments)
        return parted is not None and parted[1].end == "head"

    def shows_all(self, arguments: Arguments, text: str) -> bool:
        """Whether these give all that their core gave: then `head` has read to the end, and nothing was stopped."""
        found, (_, parted) = _ANSWER.match(text), self._apart(arguments)
        output = text[found.end() :] if found else text
        return parted is None or parted[1].of(output) == output

    def cut(self, arguments: Arguments, text: str) -> str | None:
        """What these arguments give, of what their core gave."""
        found = _ANSWER.match(text)
        if found is None or int(found[1]) > _PROGRAMS_OWN:
            return None
        code, output = int(found[1]), text[found.end() :]
        if code == _MISREAD and _NO_SYNTAX.search(output):
            return None
        _, parted = self._apart(arguments)
        return text if parted is None else answer_of(0, parted[1].of(output))

    def _apart(self, arguments: Arguments) -> tuple[dict[str, Json], tuple[str, Cut] | None]:
        """The arguments with the folder apart and no needless `2>&1`, and what `cut_of` finds in the command left."""
        found, command = dict(arguments), arguments.get(self.command)
        if not isinstance(command, str):
            return found, None
        folder = arguments.get(self.folder) if self.folder else None
        while self.folder and (folder is None or isinstance(folder, str)) and (inner := folder_of(command, folder)):
            command, folder = inner
            found[self.folder] = folder
        found[self.command] = command = plain(command)
        return found, cut_of(command)
