"""A recorded session as one of the project: the same turns and pauses, and each call as one of our own tools'.

Order, repetition and kind of the calls are the recorded ones. The n-th distinct file that a session names is the n-th
of the project's files, in an order drawn by the session's name, so that no two sessions go through them alike. Nothing
is decided by what comes later in a session. Calls of tools that a workbench has no like of pass as a pause.
"""

import random
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from paste_proxy.bench.coding.commands import drawn, mapped_command
from paste_proxy.bench.coding.project import PACKAGES, modules
from paste_proxy.bench.latency import LONGEST_LLM_S
from paste_proxy.bench.script import Script, ScriptedCall, ScriptedTurn
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult
from paste_proxy.events.values import Json, canonical_text

_TEST = re.compile(r"(?:^test_|[_.]test$|\.spec$)")
_PATTERNS = ("REVISION", "SEED", "def ", "import ", "return ", "for ", "self.assert", "range(", "-> int", "list[")
_LINES = 30
_Path = tuple[str, str]


class Project:
    """What the sessions that are played one after another have come to in it."""

    def __init__(self) -> None:
        self.revisions: Counter[str] = Counter()
        """By file, how often it was edited."""


def mapped(script: Script, project: Project, steps: int | None = None) -> Script:
    """The session as one of the project.

    Args:
        project: changed by its edits.
        steps: at most so many calls, from the first.
    """
    session, turns, pause_s, left = _Session(script.session, project), list[ScriptedTurn](), 0.0, steps
    for turn in script.turns:
        if left is not None and left <= 0:
            break
        calls = [call for one in turn.calls if (call := session.call(one)) is not None][:left]
        if turn.calls and not calls:
            beside = max(call.latency_s for call in turn.calls)
            pause_s += turn.first_token_s + turn.stream_s + beside
            continue
        first_token_s = min(turn.first_token_s + pause_s, LONGEST_LLM_S)
        turns.append(replace(turn, calls=tuple(calls), first_token_s=first_token_s))
        pause_s, left = 0.0, None if left is None else left - len(calls)
    return replace(script, turns=tuple(turns))


def all_mapped(scripts: Iterable[Script], steps: int | None = None) -> list[Script]:
    """Sessions that are played one after another in one project."""
    project = Project()
    return [mapped(script, project, steps) for script in scripts]


class _Session:
    def __init__(self, name: str, project: Project) -> None:
        self._project = project
        self._files = modules()
        random.Random(name).shuffle(self._files)  # noqa: S311  the same in every run
        self._known: dict[str, _Path] = {}

    def call(self, call: ScriptedCall) -> ScriptedCall | None:
        """The call in the project; None: there is no like of its tool."""
        given = call.invocation.arguments
        match call.invocation.tool:
            case "Read":
                meant = self._read(given)
            case "Edit" | "Write" | "MultiEdit" | "NotebookEdit":
                meant = self._edit(given)
            case "Grep":
                meant = self._grep(given)
            case "Glob":
                pattern = "test_*.py" if "test" in _text(given, "pattern") else "*.py"
                meant = Invocation("glob", {"pattern": pattern, "path": drawn(_text(given, "pattern"), PACKAGES)})
            case "LS":
                meant = Invocation("list", {"path": self.file_of(_text(given, "path"))[0]})
            case "Bash":
                meant = Invocation("run", {"command": mapped_command(_text(given, "command"), self.file_of)})
            case _:
                return None
        arguments = canonical_text(meant.arguments)
        return replace(call, invocation=meant, arguments=arguments, result=ToolResult(body=b""), latency_s=0.0)

    def file_of(self, path: str) -> _Path:
        """The module that stands for a path; a file and its test are one, and so are the ways to write it."""
        parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".", "...", "*", "**")]
        name = "/".join((*parts[-2:-1], _TEST.sub("", parts[-1].partition(".")[0]))) if parts else ""
        if name not in self._known:
            self._known[name] = self._files[len(self._known) % len(self._files)]
        return self._known[name]

    def _path(self, path: str) -> str:
        package, name = self.file_of(path)
        stem = path.rpartition("/")[2].rpartition(".")[0]
        return f"{package}/test_{name}.py" if _TEST.search(stem) else f"{package}/{name}.py"

    def _read(self, given: dict[str, Json]) -> Invocation:
        arguments: dict[str, Json] = {"path": self._path(_text(given, "file_path"))}
        if isinstance(offset := given.get("offset"), int):
            arguments["offset"] = 1 + offset % _LINES
        if isinstance(limit := given.get("limit"), int):
            arguments["limit"] = max(1, min(limit, _LINES))
        return Invocation("read", arguments)

    def _edit(self, given: dict[str, Json]) -> Invocation:
        package, name = self.file_of(_text(given, "file_path") or _text(given, "notebook_path"))
        path = f"{package}/{name}.py"
        revision = self._project.revisions[path]
        self._project.revisions[path] += 1
        old, new = f"REVISION = {revision}\n", f"REVISION = {revision + 1}\n"
        return Invocation("edit", {"path": path, "old_text": old, "new_text": new})

    def _grep(self, given: dict[str, Json]) -> Invocation:
        arguments: dict[str, Json] = {"pattern": drawn(_text(given, "pattern"), _PATTERNS), "literal": True}
        if path := _text(given, "path"):
            package, name = self.file_of(path)
            arguments["path"] = f"{package}/{name}.py" if "." in path.rpartition("/")[2] else package
        return Invocation("grep", arguments)


def _text(given: dict[str, Json], key: str) -> str:
    value = given.get(key)
    return value if isinstance(value, str) else ""
