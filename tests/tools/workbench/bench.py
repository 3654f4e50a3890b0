"""A workbench in a folder of a test's own, asked as a client would."""

from pathlib import Path
from typing import Any

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status, ToolResult
from paste_proxy.events.values import loads
from paste_proxy.tools.workbench.backend import Workbench


class Bench:
    """Its tools, as the texts that they answer with."""

    def __init__(self, root: Path, **options: Any) -> None:
        self.root = root
        self.workbench = Workbench(root, **options)

    async def result(self, tool: str, **arguments: Any) -> ToolResult:
        """All of the answer."""
        return await self.workbench.run(Invocation(f"workbench/{tool}", arguments), speculative=False)

    async def ask(self, tool: str, **arguments: Any) -> str:
        """The text of an answer that is no failure."""
        result = await self.result(tool, **arguments)
        assert result.status is Status.OK, text(result)
        return text(result)

    async def fails(self, tool: str, **arguments: Any) -> str:
        """The text of a failure."""
        result = await self.result(tool, **arguments)
        assert result.status is Status.ERROR, text(result)
        return text(result)


def text(result: ToolResult) -> str:
    """The one text of an answer."""
    said: Any = loads(result.body)
    (block,) = said["content"]
    assert block["type"] == "text"
    assert said["isError"] is (result.status is Status.ERROR)
    return str(block["text"])
