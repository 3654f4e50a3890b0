"""The outcome of running a tool once."""

from dataclasses import dataclass, field
from enum import StrEnum

from paste_proxy.events.values import Json, loads

OBSERVED_BYTES = 256 * 2**10
"""Of an answer that are looked at: to read longer ones whole would hold up what passes."""


class Status(StrEnum):
    """How a tool call ended."""

    OK = "ok"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a tool answered: immutable bytes, exactly as its backend gave them."""

    body: bytes
    """The answer. For an MCP tool the raw JSON of the response's `result`, else the response body."""
    status: Status = Status.OK
    content_type: str = "application/json"
    http_status: int = 200
    """Status of the HTTP answer where the backend is HTTP; 200 elsewhere."""
    took_s: float | None = field(default=None, compare=False)
    """Seconds the tool itself took, where the backend had to start something first; no agent waits for that."""
    cpu_s: float | None = field(default=None, compare=False)
    """CPU seconds that it took, where the backend knows."""
    retry_after_s: float | None = field(default=None, compare=False)
    """In how many seconds its service wants to be asked again, where an error says so outside of the body."""

    def observed(self) -> Json:
        """The answer as it is told to whoever looks on: of one beyond `OBSERVED_BYTES` its beginning, as text."""
        if len(self.body) > OBSERVED_BYTES:
            return self.body[:OBSERVED_BYTES].decode("utf-8", "replace")
        return self.value()

    def value(self) -> Json:
        """The whole answer as JSON, or as text where it is none."""
        try:
            return loads(self.body)
        except ValueError:
            return self.body.decode("utf-8", "replace")
