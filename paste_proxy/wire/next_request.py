"""The request that an agent will send next, foreseen: its last one, the turn that answered it, and what the tools gave.

It is sent so that the engine has read it before the agent asks (PASTE 4.3's realized gain without the wait; the "cheap
default" for any engine with a prefix cache). What counts is that the engine makes the same tokens of it as of the
agent's own: of Chat Completions a template takes roles, texts and calls, and nothing else of a message.
"""

from collections.abc import Sequence

from paste_proxy.events.values import Json, canonical_text, dumps, loads
from paste_proxy.wire.types import SeenCall

_OF_ANSWERS = ("max_completion_tokens", "stream_options", "logprobs", "top_logprobs", "best_of", "min_tokens")
"""Members of a request that an answer of one token has no use of, or is refused with."""


def told_as(output: Json) -> str:
    """The text that agents tell a result as: of an MCP result its texts, a line apart; any other value as JSON."""
    if isinstance(output, str):
        return output
    content = output.get("content") if isinstance(output, dict) else None
    if isinstance(content, list) and content:
        texts = [part.get("text") if isinstance(part, dict) else None for part in content]
        if all(isinstance(text, str) for text in texts):
            return "\n".join(str(text) for text in texts)
    return canonical_text(output)


def next_request(body: bytes, text: str, calls: Sequence[SeenCall], outputs: Sequence[str]) -> bytes | None:
    """A Chat Completions request that asks for one token; None: the last one is none that can be gone on from.

    Args:
        body: the last request.
        text: of the turn that answered it.
        calls: of that turn.
        outputs: of each call, the text that its result will be told as.
    """
    try:
        request = loads(body)
    except ValueError:
        return None
    messages = request.get("messages") if isinstance(request, dict) else None
    if not isinstance(request, dict) or not isinstance(messages, list) or not calls:
        return None
    written: list[Json] = [
        {
            "id": call.call_id,
            "type": "function",
            "function": {"name": call.name, "arguments": canonical_text(call.arguments)},
        }
        for call in calls
    ]
    results: list[Json] = [
        {"role": "tool", "tool_call_id": call.call_id, "content": output}
        for call, output in zip(calls, outputs, strict=True)
    ]
    turn: Json = {"role": "assistant", "content": text or None, "tool_calls": written}
    kept = {name: value for name, value in request.items() if name not in _OF_ANSWERS}
    return dumps({**kept, "messages": [*messages, turn, *results], "max_tokens": 1, "n": 1, "stream": False})
