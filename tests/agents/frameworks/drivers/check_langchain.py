# mypy: disable-error-code="import-not-found,untyped-decorator"
"""What `through` leaves of LangChain's tools."""

from typing import Annotated, Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.tools import BaseTool, InjectedToolCallId, ToolException, tool

from paste_proxy import Sidecar
from paste_proxy.agents.langchain import through


@tool
def fails(words: str) -> str:
    """Fail."""
    raise ToolException(words)


@tool
def injected(words: str, call_id: Annotated[str, InjectedToolCallId]) -> str:
    """Know one's call."""
    return words + call_id


class Own(BaseTool):  # type: ignore[misc]
    name: str = "own"
    description: str = "A class."

    def _run(self, words: str) -> str:
        return words


class Heard(BaseCallbackHandler):  # type: ignore[misc]
    """Notes what begins and ends."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def on_tool_start(self, *args: Any, **kwargs: Any) -> None:
        self.notes.append("start")

    def on_tool_end(self, *args: Any, **kwargs: Any) -> None:
        self.notes.append("end")


fails.handle_tool_error = True
paste, heard = Sidecar(), Heard()
tools = through(paste, [fails, injected, Own(), len])
call = {"type": "tool_call", "id": "c", "args": {"words": "so"}}
failed = tools[0].invoke({**call, "name": "fails"})
assert (failed.status, failed.content, failed.tool_call_id) == ("error", "so", "c")
assert (tools[1], tools[3]) == (injected, len)
said = tools[2].invoke({**call, "name": "own"}, {"callbacks": [heard]})
assert (said.content, heard.notes) == ("so", ["start", "end"])
assert paste.stats.calls == 2
assert (paste.stats.unreadable, paste.stats.broken) == (0, 0)
assert tools[0].tool_call_schema.model_json_schema() == fails.tool_call_schema.model_json_schema()
