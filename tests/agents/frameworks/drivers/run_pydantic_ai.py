# mypy: disable-error-code="import-not-found,no-any-return"
"""An agent of pydantic-ai."""

import tools
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from paste_proxy.agents.pydantic_ai import through


def look(place: str, deep: bool = False) -> str:
    """Look at a place."""
    try:
        return tools.look(place, deep)
    except ValueError as fault:
        raise ModelRetry(str(fault)) from fault


with tools.agent(through, [tools.count, look]) as mine:
    model = OpenAIChatModel("scripted", provider=OpenAIProvider(base_url=f"{tools.LLM_URL}/v1", api_key="none"))
    Agent(model, tools=mine).run_sync("How is the water?")
