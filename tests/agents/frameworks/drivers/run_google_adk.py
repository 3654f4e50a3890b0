# mypy: disable-error-code="import-not-found,import-untyped"
"""An agent of Google's Agent Development Kit, with a model of its own that asks the scripted LLM."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any
from urllib.request import Request, urlopen

import tools
from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types

from paste_proxy.agents.google_adk import through


def look(place: str, deep: bool = False) -> dict[str, str]:
    """Look at a place."""
    try:
        return {"seen": tools.look(place, deep)}
    except ValueError as fault:
        return {"error": str(fault)}


class Scripted(BaseLlm):  # type: ignore[misc]
    """Speaks Chat Completions."""

    async def generate_content_async(self, request: Any, stream: bool = False) -> AsyncIterator[Any]:
        messages = [message for content in request.contents for message in written(content)]
        answer = await asyncio.to_thread(ask, messages)
        calls = [
            types.FunctionCall(
                id=call["id"], name=call["function"]["name"], args=json.loads(call["function"]["arguments"])
            )
            for call in answer.get("tool_calls", ())
        ]
        parts = [types.Part(function_call=call) for call in calls] or [types.Part(text=answer["content"])]
        yield LlmResponse(content=types.Content(role="model", parts=parts))


def written(content: Any) -> list[dict[str, Any]]:
    """A content as chat messages."""
    calls = [part.function_call for part in content.parts if part.function_call]
    if calls:
        functions = [{"id": c.id, "function": {"name": c.name, "arguments": json.dumps(c.args)}} for c in calls]
        return [{"role": "assistant", "tool_calls": [{"type": "function", **one} for one in functions]}]
    answers = [part.function_response for part in content.parts if part.function_response]
    if answers:
        return [{"role": "tool", "tool_call_id": a.id, "content": json.dumps(a.response)} for a in answers]
    text = "".join(part.text or "" for part in content.parts)
    return [{"role": "assistant" if content.role == "model" else "user", "content": text}]


def ask(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """The LLM's answer."""
    body = json.dumps({"model": "scripted", "messages": messages}).encode()
    request = Request(f"{tools.LLM_URL}/v1/chat/completions", body, {"content-type": "application/json"})
    with urlopen(request, timeout=30) as answer:
        message: dict[str, Any] = json.load(answer)["choices"][0]["message"]
        return message


async def main(mine: list[Any]) -> None:
    agent = LlmAgent(name="watch", model=Scripted(model="scripted"), tools=mine)
    runner = InMemoryRunner(agent=agent, app_name="watch")
    session = await runner.session_service.create_session(app_name="watch", user_id="someone")
    question = types.Content(role="user", parts=[types.Part(text="How is the water?")])
    async for _ in runner.run_async(user_id="someone", session_id=session.id, new_message=question):
        pass


with tools.agent(through, [tools.count, look]) as mine:
    asyncio.run(main(mine))
