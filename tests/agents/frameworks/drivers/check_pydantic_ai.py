# mypy: disable-error-code="import-not-found"
"""What `through` leaves of pydantic-ai's tools."""

from typing import Any

from pydantic_ai import Agent, RunContext, Tool
from pydantic_ai.models.test import TestModel

from paste_proxy import Sidecar
from paste_proxy.agents.pydantic_ai import through


def plain(words: str) -> str:
    return words.upper()


def with_context(context: RunContext[Any], words: str) -> str:
    return f"{words} {context.tool_name}"


paste = Sidecar()
asking = Tool(with_context)
tools = through(paste, [Tool(plain, requires_approval=False, max_retries=7), asking])
assert tools[1] is asking
assert (tools[0].max_retries, tools[0].tool_def) == (7, Tool(plain, max_retries=7).tool_def)
assert Agent(TestModel(), tools=tools).run_sync("go").output == '{"plain":"A","with_context":"a with_context"}'
assert (paste.stats.calls, paste.stats.unreadable, paste.stats.broken) == (1, 0, 0)
