"""What recorded sessions show of each tool: how often it is called, how long it takes, whether it seems to be a read.

Nothing here is proof: a tool that never seemed to change anything may do so tomorrow.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b

from paste_proxy.events.durations import credible
from paste_proxy.events.invocation import Invocation, name_of
from paste_proxy.events.result import Status
from paste_proxy.events.types import Event, ToolCall, ToolOutput
from paste_proxy.events.values import canonical_text
from paste_proxy.speculation.plain_commands import pipeline
from paste_proxy.speculation.plainly_reading import only_reads
from paste_proxy.speculation.sameness.shell import Shell

_COMMANDS = ("command", "cmd", "script")
"""Arguments that hold a shell's command."""
_FOLDERS = ("cwd", "workdir", "dir_path", "directory")
"""And those that hold the folder it is run in."""
_USUAL = 0.8
"""A tool is a shell if so many of its calls have such an argument."""
_SUBCOMMAND = re.compile(r"[a-z][a-z0-9:_-]*")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_READING = re.compile(
    "calculate|check|compare|count|describe|explain|fetch|find|get|glob|grep|info|inspect|list|look|lookup|ls|"
    "open|preview|query|read|retrieve|search|show|stat|status|summarize|think|view|visit|crawl"
)
_WRITING = re.compile(
    "add|append|apply|archive|assign|book|buy|call|cancel|click|close|commit|copy|create|delete|deploy|download|"
    "drop|edit|exec|execute|generate|insert|install|kill|launch|mark|merge|modify|move|navigate|patch|pay|post|"
    "press|publish|push|put|remove|rename|replace|reset|restart|run|save|schedule|send|set|start|stop|submit|"
    "transfer|trigger|type|update|upload|write"
)


@dataclass(slots=True)
class ToolUse:
    """What was seen of one tool."""

    tool: str
    calls: int = 0
    failed: int = 0
    seconds: list[float] = field(default_factory=list)
    arguments: Counter[str] = field(default_factory=Counter)
    again: int = 0
    """Calls that had been made before in their session."""
    again_same: int = 0
    """Those of them that were answered as before."""
    between: int = 0
    """How often it was called between two equal calls of another tool."""
    between_same: int = 0
    """And these were answered alike."""
    commands: Counter[tuple[str, str]] = field(default_factory=Counter)
    """What runs, and in which folder: empty where that is not said."""

    @property
    def command(self) -> str | None:
        """The argument that holds a command, if it is a shell."""
        held = ((self.arguments[name], name) for name in _COMMANDS)
        most, name = max(held)
        return name if self.calls and most >= _USUAL * self.calls and self.commands else None

    @property
    def folder(self) -> str | None:
        """The argument that holds the folder of a command, if one does."""
        return next((name for name in _FOLDERS if self.arguments[name]), None)

    @property
    def name_says(self) -> str:
        """`read`, `write`, or nothing."""
        words = [word.lower() for word in _WORD.findall(name_of(self.tool))]
        if any(map(_WRITING.fullmatch, words)):
            return "write"
        return "read" if any(map(_READING.fullmatch, words)) else ""

    @property
    def seems_a_read(self) -> bool:
        """Whether more speaks for it than against it: worth a person's look, and no more than that."""
        if self.name_says == "write" or self.command is not None:
            return False
        changed = self.between - self.between_same
        steady = self.again_same >= 2 and self.again_same > self.again - self.again_same
        return (self.name_says == "read" or steady) and changed <= self.between_same

    def patterns(self) -> Counter[tuple[str, ...]]:
        """What its commands run, but for those that plainly only read: a program, and its subcommand if it has one."""
        found: Counter[tuple[str, ...]] = Counter()
        for (command, folder), times in self.commands.items():
            stages = pipeline(command)
            if stages is not None and len(stages) == 1 and not only_reads(command, folder):
                found[_pattern(stages[0])] += times
        return found

    @property
    def reading(self) -> int:
        """Its commands that plainly only read."""
        return sum(times for (command, folder), times in self.commands.items() if only_reads(command, folder))


def tool_uses(sessions: Iterable[Iterable[Event]]) -> list[ToolUse]:
    """What sessions show of each tool, those first that took longest in all."""
    uses: dict[str, ToolUse] = {}
    for events in sessions:
        _Follower(uses).follow(events)
    return sorted(uses.values(), key=lambda use: (-sum(use.seconds), -use.calls, use.tool))


class _Follower:
    """Follows one session."""

    def __init__(self, uses: dict[str, ToolUse]) -> None:
        self._uses = uses
        self._open: dict[str, ToolCall] = {}
        self._ended: list[str] = []
        """The tools of the calls that were answered, in order."""
        self._answers: dict[str, tuple[int, bytes]] = {}
        """By canonical key, when it was answered last and with what."""

    def follow(self, events: Iterable[Event]) -> None:
        for event in events:
            if isinstance(event, ToolCall):
                self._open[event.call_id] = event
                self._called(event.invocation)
            elif isinstance(event, ToolOutput) and (call := self._open.pop(event.call_id, None)) is not None:
                self._answered(call.invocation, event)

    def _called(self, invocation: Invocation) -> None:
        use = self._uses.setdefault(invocation.tool, ToolUse(invocation.tool))
        use.calls += 1
        use.arguments.update(invocation.arguments.keys())
        for name in _COMMANDS:
            if isinstance(invocation.arguments.get(name), str):
                folder = next((one for one in _FOLDERS if one in invocation.arguments), _FOLDERS[0])
                core = Shell(name, folder).core(invocation.arguments)
                use.commands[str(core[name]), str(core.get(folder) or "")] += 1
                break

    def _answered(self, invocation: Invocation, answer: ToolOutput) -> None:
        use = self._uses[invocation.tool]
        use.failed += answer.status is not Status.OK
        took = credible(answer.duration_s)
        if took is not None:
            use.seconds.append(took)
        said = blake2b(canonical_text(answer.output).encode("utf-8", "surrogatepass"), digest_size=16).digest()
        before = self._answers.get(invocation.key)
        if before is not None:
            same = before[1] == said
            use.again += 1
            use.again_same += same
            for tool in set(self._ended[before[0] + 1 :]) - {invocation.tool}:
                self._uses[tool].between += 1
                self._uses[tool].between_same += same
        self._answers[invocation.key] = (len(self._ended), said)
        self._ended.append(invocation.tool)


def _pattern(argv: tuple[str, ...]) -> tuple[str, ...]:
    words = 1
    if len(argv) > words and _SUBCOMMAND.fullmatch(argv[1]):
        words = 3 if argv[1] == "run" and len(argv) > 2 else 2
    elif len(argv) > 2 and argv[1] == "-m":
        words = 3
    return argv[:words]
