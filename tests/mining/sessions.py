"""Short ways to write sessions in tests."""

from dataclasses import dataclass

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status
from paste_proxy.events.types import Event, LlmTurn, ToolCall, ToolOutput, UserMessage
from paste_proxy.events.values import Json

Step = Event | list[Event]


@dataclass(frozen=True)
class Session:
    id: str
    events: tuple[Event, ...]
    source: str = "test"


class Script:
    """Writes one session line by line."""

    def __init__(self, name: str = "s") -> None:
        self.name = name
        self.events: list[Event] = []
        self._turn = 0
        self._calls = 0

    def user(self, text: str) -> "Script":
        self.events.append(UserMessage(session=self.name, ts=None, text=text))
        return self

    def says(self, text: str) -> "Script":
        self._turn += 1
        self.events.append(LlmTurn(session=self.name, ts=None, text=text, turn=self._turn))
        return self

    def call(
        self, tool: str, arguments: dict[str, Json], output: Json, *, ok: bool = True, seconds: float | None = None
    ) -> "Script":
        return self.batch([(tool, arguments, output)], ok=ok, seconds=seconds)

    def batch(
        self, calls: list[tuple[str, dict[str, Json], Json]], *, ok: bool = True, seconds: float | None = None
    ) -> "Script":
        self._turn += 1
        named: list[tuple[str, str, Json]] = []
        for tool, arguments, output in calls:
            self._calls += 1
            named.append((f"c{self._calls}", tool, output))
            self.events.append(
                ToolCall(
                    session=self.name,
                    ts=None,
                    call_id=f"c{self._calls}",
                    invocation=Invocation(tool, arguments),
                    turn=self._turn,
                )
            )
        for call_id, tool, output in named:
            self.events.append(
                ToolOutput(
                    session=self.name,
                    ts=None,
                    call_id=call_id,
                    tool=tool,
                    output=output,
                    status=Status.OK if ok else Status.ERROR,
                    duration_s=seconds,
                )
            )
        return self

    def end(self) -> Session:
        return Session(self.name, tuple(self.events))
