"""Calls of a coding agent's own tools as calls of our workbench's, and back.

Nobody but its agent runs a coding agent's shell, so that nothing of it could be run ahead; the same agent with our
tools for its folder asks for the same things by other names. Pools know the agent's own names.
"""

from collections.abc import Callable
from dataclasses import dataclass

from paste_proxy.events.invocation import Invocation, name_of
from paste_proxy.events.values import Json

_SERVER = "workbench"
_TOOLS = {
    "Bash": "run",
    "Read": "read",
    "Grep": "grep",
    "Glob": "glob",
    "LS": "list",
    "Edit": "edit",
    "MultiEdit": "edit",
    "Write": "write",
}
_OWN = {ours: theirs for theirs, ours in reversed(_TOOLS.items())}
_PATH = {"file_path": "path"}
_BACK = {"path": "file_path"}
_RENAMED = ("read", "edit", "write")
_IDLE = ("description",)
"""Says what a command is for, and goes nowhere."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a recorded call is asked for in the simulation, and how the pool would have it."""

    asked: Callable[[Invocation], Invocation] = lambda call: call
    pooled: Callable[[Invocation], Invocation] = lambda call: call


def _as_workbench(call: Invocation) -> Invocation:
    tool = _TOOLS.get(call.tool)
    if tool is None or call.arguments.get("run_in_background"):
        return call
    names = _PATH if tool in _RENAMED else {}
    kept = {names.get(name, name): value for name, value in call.arguments.items() if name not in _IDLE}
    timeout = kept.get("timeout")
    if tool == "run" and isinstance(timeout, int | float):
        kept["timeout"] = timeout / 1000
    return Invocation(f"{_SERVER}/{tool}", kept)


def _as_own(call: Invocation) -> Invocation:
    tool = name_of(call.tool)
    if call.tool != f"{_SERVER}/{tool}" or tool not in _OWN:
        return call
    names = _BACK if tool in _RENAMED else {}
    kept: dict[str, Json] = {names.get(name, name): value for name, value in call.arguments.items()}
    timeout = kept.get("timeout")
    if tool == "run" and isinstance(timeout, int | float):
        kept["timeout"] = timeout * 1000
    return Invocation(_OWN[tool], kept)


AS_RECORDED = Spelling()
AS_WORKBENCH = Spelling(_as_workbench, _as_own)
