# mypy: disable-error-code="import-not-found"
"""An agent of the OpenAI Agents SDK."""

import agents
import tools
from openai import AsyncOpenAI

from paste_proxy.agents.openai_agents import through

with tools.agent(through, [agents.function_tool(tools.count), agents.function_tool(tools.look)]) as mine:
    client = AsyncOpenAI(base_url=f"{tools.LLM_URL}/v1", api_key="none")
    model = agents.OpenAIChatCompletionsModel(model="scripted", openai_client=client)
    agents.set_tracing_disabled(True)
    agents.Runner.run_sync(agents.Agent(name="watch", model=model, tools=mine), "How is the water?")
