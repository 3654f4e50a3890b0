"""Which calls of a shell do nothing but read files: to run one of them twice, or for nothing, changes nothing.

What is not plainly so is not so.
"""

from collections.abc import Mapping

from paste_proxy.events.values import Json
from paste_proxy.speculation.reading_programs import reading

READ_SHELL = "read_shell"
"""The tool that runs such commands, its one argument `command`."""

_SHELLS: Mapping[str, frozenset[str]] = {
    "Bash": frozenset({"command", "description", "timeout"}),
    "run_shell_command": frozenset({"command", "description", "wait_for_previous"}),
}
"""Agents' shells, and the arguments beside which there may be no other."""
_LEAST_TIMEOUT_MS = 60_000


def reading_command(tool: str, arguments: Mapping[str, Json]) -> str | None:
    """The command of a shell's call that does nothing but read; None for any other call.

    Args:
        tool: by the name that its agent gives it.
    """
    command, timeout = arguments.get("command"), arguments.get("timeout", _LEAST_TIMEOUT_MS)
    if not isinstance(command, str) or not arguments.keys() <= _SHELLS.get(tool, frozenset()):
        return None
    if not isinstance(timeout, int) or timeout < _LEAST_TIMEOUT_MS:
        return None
    return command if reading(command) is not None else None
