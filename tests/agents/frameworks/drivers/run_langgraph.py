# mypy: disable-error-code="import-not-found,untyped-decorator"
"""A graph of LangGraph with LangChain's tools: one that blocks and, with `async`, one that does not."""

import asyncio
import json
import sys
from typing import Any

import tools
from langchain_core.messages import AIMessage, HumanMessage, convert_to_openai_messages
from langchain_core.tools import tool
from langgraph.graph import MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from openai import OpenAI

from paste_proxy.agents.langchain import through

client = OpenAI(base_url=f"{tools.LLM_URL}/v1", api_key="none")


def think(state: Any) -> dict[str, Any]:
    """Ask the LLM."""
    said: Any = client.chat.completions.create(
        model="scripted", messages=convert_to_openai_messages(state["messages"])
    ).choices[0]
    calls = [
        {"name": call.function.name, "args": json.loads(call.function.arguments), "id": call.id}
        for call in said.message.tool_calls or ()
    ]
    return {"messages": [AIMessage(said.message.content or "", tool_calls=calls)]}


@tool
async def look_later(place: str, deep: bool = False) -> str:
    """Look at a place."""
    return await asyncio.to_thread(tools.look, place, deep)


is_async = sys.argv[1:] == ["async"]
look_later.name = "look"
with tools.agent(through, [tool(tools.count), look_later if is_async else tool(tools.look)]) as mine:
    graph = StateGraph(MessagesState)
    graph.add_node("think", think)
    graph.add_node("tools", ToolNode(mine, handle_tool_errors=True))
    graph.set_entry_point("think")
    graph.add_conditional_edges("think", tools_condition)
    graph.add_edge("tools", "think")
    question = {"messages": [HumanMessage("How is the water?")]}
    if is_async:
        asyncio.run(graph.compile().ainvoke(question))
    else:
        graph.compile().invoke(question)
