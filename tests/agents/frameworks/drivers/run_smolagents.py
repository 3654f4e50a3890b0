# mypy: disable-error-code="import-not-found,no-any-return"
"""A tool-calling agent of smolagents.

It writes its history anew, as text, so that no answer of the LLM is found in it again: the session is named.
"""

import smolagents
import tools

from paste_proxy.agents.smolagents import through


class Count(smolagents.Tool):  # type: ignore[misc]
    """A tool that is a class."""

    name = "count"
    description = "Counts words."
    inputs = {"words": {"type": "string", "description": "what to count"}}  # noqa: RUF012 - as its base has it
    output_type = "string"

    def forward(self, words: str) -> str:
        return tools.count(words)


SESSION = "watch"
with tools.agent(through, [Count(), smolagents.tool(tools.look)], SESSION) as mine:
    headers = {"x-paste-session": SESSION}
    model = smolagents.OpenAIModel(
        "scripted", api_base=f"{tools.LLM_URL}/v1", api_key="none", client_kwargs={"default_headers": headers}
    )
    agent = smolagents.ToolCallingAgent(tools=mine, model=model, verbosity_level=0, max_tool_threads=1)
    agent.run("How is the water?")
