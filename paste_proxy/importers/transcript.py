"""A session put together from what its log tells, in the order in which it is told.

Agents write one LLM message in several records, and some records twice. Here a turn has one mark, whatever
the log knows it by, and what was told of a turn already is not told again.
"""

from collections import defaultdict, deque
from dataclasses import dataclass, field, replace

from paste_proxy.events.invocation import Invocation, read_arguments
from paste_proxy.events.result import Status
from paste_proxy.events.types import Event, LlmTurn, ToolCall, ToolOutput, UserMessage
from paste_proxy.events.values import Json
from paste_proxy.importers.epoch import between
from paste_proxy.importers.neutral import RecordedSession
from paste_proxy.importers.neutral_record import Step, identity_of
from paste_proxy.importers.pairing import paired

_CALLERS = frozenset(("tool_call", "call_tool", "use_tool", "use_mcp_tool"))
"""Tools by which clients let a model call those that they have not described to it."""


@dataclass(slots=True)
class _Turn:
    place: int
    """Of its LLM turn among the steps."""
    since: float | None
    """When the LLM had been given what it answers."""
    told: set[str] = field(default_factory=set)
    """Texts and ids of calls."""


class Transcript:
    """One session while its log is read. Times are seconds since the epoch, None where the log has none."""

    def __init__(self, session: str, source: str) -> None:
        self.id = session
        self._source = source
        self._steps: list[Step] = []
        self._turns: dict[str, _Turn] = {}
        self._open: defaultdict[str, deque[ToolCall]] = defaultdict(deque)
        self._since: float | None = None

    def user(self, text: str, ts: float | None) -> None:
        """A person said something; blank texts are passed over."""
        if text.strip():
            self._add(UserMessage(session=self.id, ts=ts, text=text))
            self._since = ts

    def turn(
        self, mark: str, ts: float | None, *, text: str = "", model: str = "", duration_s: float | None = None
    ) -> None:
        """The LLM said something, or only asked: the turn of that mark begins or goes on.

        Without `duration_s` a turn lasts from the last thing before it to its last record.
        """
        turn = self._turns.get(mark)
        if turn is None:
            turn = self._turns[mark] = _Turn(len(self._steps), self._since, {f"text {text}"})
            lasted = between(turn.since, ts) if duration_s is None else duration_s
            self._add(LlmTurn(session=self.id, ts=ts, text=text, model=model, duration_s=lasted), mark)
            return
        step = self._steps[turn.place]
        assert isinstance(step.event, LlmTurn)
        known = step.event
        new = text if text and f"text {text}" not in turn.told else ""
        turn.told.add(f"text {text}")
        event = replace(
            known,
            ts=ts,
            text="\n".join(filter(None, (known.text, new))),
            duration_s=between(turn.since, ts) if duration_s is None else duration_s,
        )
        self._steps[turn.place] = replace(step, event=event)

    def call(self, mark: str, call_id: str, name: str, arguments: Json, ts: float | None) -> None:
        """A turn asked for a tool. A call without a name, or whose arguments are no JSON object, is left out."""
        turn = self._turns.get(mark)
        if turn and call_id:
            if f"call {call_id}" in turn.told:
                return
            turn.told.add(f"call {call_id}")
        try:
            invocation = _invocation(name, arguments)
        except ValueError:
            return
        call = ToolCall(session=self.id, ts=ts, call_id=call_id, invocation=invocation)
        self._open[call_id].append(call)
        self._add(call, mark)

    def output(
        self,
        call_id: str,
        output: Json,
        ts: float | None,
        *,
        failed: bool = False,
        duration_s: float | None = None,
        timed: bool = True,
    ) -> None:
        """A call was answered; an answer to no open call is passed over.

        Without `duration_s` the tool took from its call to its answer, unless the times are not `timed` by it.
        """
        waiting = self._open.get(call_id)
        if not waiting:
            return
        call = waiting.popleft()
        took = between(call.ts, ts) if duration_s is None and timed else duration_s
        self._add(
            ToolOutput(
                session=self.id,
                ts=ts,
                call_id=call_id,
                tool=call.invocation.tool,
                output=output,
                status=Status.ERROR if failed else Status.OK,
                duration_s=took,
            )
        )
        self._since = ts

    def sessions(self) -> list[RecordedSession]:
        """The session, its calls tied to turns and outputs; none if nothing happened in it."""
        if not self._steps:
            return []
        return [RecordedSession(self.id, self._source, tuple(paired(self._steps)))]

    def _add(self, event: Event, mark: str | None = None) -> None:
        self._steps.append(Step(len(self._steps), event, mark))


def _invocation(name: str, arguments: Json) -> Invocation:
    """What a call asks for.

    Raises:
        ValueError: it has no name, or its arguments are no JSON object.
    """
    if arguments is not None and not isinstance(arguments, str | dict):
        raise ValueError(f"arguments are a JSON {type(arguments).__name__}, not an object")
    read = read_arguments(arguments)
    called = read.get("name") or read.get("tool_name")
    inner = read.get("arguments")
    if name in _CALLERS and isinstance(called, str) and isinstance(inner, str | dict):
        return _invocation(called, inner) if called not in _CALLERS else Invocation(called, read)
    if not name:
        raise ValueError("a call without a name")
    return Invocation(identity_of(name), read)
