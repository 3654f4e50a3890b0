"""The recorded world: what each tool call answers, as a function of what was written before.

The same call gives the same answer until something it can see is written; then it gives the answer
recorded after that write. So a result that was fetched too early and served too late shows in what the
agent sees. A call that the recording does not hold gets a neutral answer.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from paste_proxy.bench.latency import Kind, kind_of, tool_latency, writes
from paste_proxy.bench.script import Script, ScriptedCall
from paste_proxy.errors import InputFault
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import ToolResult

UNKNOWN = ToolResult(body=b'{"recorded": false}')
"""The answer to a call that no recording holds; no agent ever asks for it."""

_SHARED_BY = {
    Kind.FILE: "workspace",
    Kind.COMMAND: "workspace",
    Kind.LOOKUP: "records",
    Kind.ACTION: "records",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call gives."""

    result: ToolResult
    latency_s: float
    recorded: bool
    """Whether a recording holds the call."""


@dataclass(frozen=True, slots=True)
class _Known:
    session: str
    epoch: int
    call: ScriptedCall


class World:
    """The tools of one or more recorded sessions that share what they read and write.

    Raises:
        InputFault: two sessions recorded different answers to one call, so they did not share a world.
    """

    def __init__(self, scripts: Iterable[Script]) -> None:
        self._known: dict[str, list[_Known]] = defaultdict(list)
        self._epochs: dict[tuple[str, str], int] = defaultdict(int)
        self.written: list[str] = []
        """Keys of the writes carried out, in order."""
        for script in scripts:
            self._learn(script)

    def _learn(self, script: Script) -> None:
        epochs: dict[str, int] = defaultdict(int)
        for call in script.calls:
            tool, key = call.invocation.tool, call.invocation.key
            domain = _domain(tool)
            others = [known for known in self._known[key] if known.session != script.session]
            if any(writes(tool) or known.call.result.body != call.result.body for known in others):
                raise InputFault(script.session, f"{tool} contradicts {others[0].session}", "sessions of one world")
            self._known[key].append(_Known(script.session, epochs[domain], call))
            epochs[domain] += writes(tool)

    def answer(self, invocation: Invocation) -> Answer:
        """What the call gives now; a write takes effect."""
        entries = self._known.get(invocation.key)
        if not entries:
            latency_s = tool_latency(invocation.key, invocation.tool, None)
            return Answer(UNKNOWN, latency_s, recorded=False)
        domain = _domain(invocation.tool)
        epoch = self._epochs[entries[0].session, domain]
        if writes(invocation.tool):
            done = self.written.count(invocation.key)
            entry = entries[min(done, len(entries) - 1)]
            self.written.append(invocation.key)
            self._epochs[entry.session, domain] += 1
        else:
            entry = _standing(entries, epoch)
        return Answer(entry.call.result, entry.call.latency_s, recorded=True)


def _standing(entries: list[_Known], epoch: int) -> _Known:
    """The first entry of the latest epoch that has come; before all of them, the first."""
    came = [entry for entry in entries if entry.epoch <= epoch]
    return max(came, key=lambda entry: entry.epoch, default=entries[0])


def _domain(tool: str) -> str:
    return _SHARED_BY.get(kind_of(tool), "")
