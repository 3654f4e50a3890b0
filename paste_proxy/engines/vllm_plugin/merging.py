"""One answer of several turns: what a client is sent where tools were answered inside of the engine.

A stream goes on past the calls that it has shown: each turn's chunks as vLLM makes them, without the end of any but the
last. Calls are numbered through. Where a turn was answered, its choice holds `paste_messages`: the assistant's message
and the tools', as the next request would have had them. Calls that none of these answer are the client's to run, as
ever. Tokens of tools' outputs are counted apart, as `paste_tool_tokens`; the prompt is the client's own.
"""

from dataclasses import dataclass, field
from typing import Any, TypeAlias

Message: TypeAlias = dict[str, Any]


@dataclass(slots=True)
class Account:
    """Tokens of an answer."""

    prompt: int
    written: int = 0
    """By the model, in all turns."""
    tools: int = 0
    """Of outputs, and of what the template puts around them."""

    def usage(self, of_last_turn: dict[str, Any]) -> dict[str, Any]:
        """`usage` as the client gets it, for all turns."""
        sums = {"prompt_tokens": self.prompt, "completion_tokens": self.written}
        return {
            **of_last_turn,
            **sums,
            "total_tokens": self.prompt + self.written,
            **({"paste_tool_tokens": self.tools} if self.tools else {}),
        }


@dataclass(slots=True)
class Stream:
    """The chunks of one streamed answer."""

    account: Account
    _turn: int = 0
    _calls_before: int = 0
    _ids: dict[int, str] = field(default_factory=dict)
    """Of this turn's calls."""

    def chunk(self, chunk: dict[str, Any], answered: list[Message] | None) -> dict[str, Any] | None:
        """What the client gets of a chunk; None: nothing.

        Args:
            answered: where the turn ends, and it was answered in the engine, its messages.
        """
        if "error" in chunk:
            return chunk
        for choice in chunk["choices"]:
            self._choice(choice, answered)
        if chunk.get("usage"):
            chunk["usage"] = self.account.usage(chunk["usage"])
        if not chunk["choices"]:
            return None if answered else chunk
        opens = self._turn and chunk["choices"][0]["delta"] == {"role": "assistant", "content": ""}
        return None if opens else chunk

    def next_turn(self) -> None:
        """The turn was answered, and the next one begins."""
        self._turn += 1
        self._calls_before += len(self._ids)
        self._ids = {}

    def _choice(self, choice: dict[str, Any], answered: list[Message] | None) -> None:
        for call in choice["delta"].get("tool_calls") or ():
            if call.get("id"):
                self._ids[call["index"]] = call["id"]
            call["index"] += self._calls_before
        if answered and choice.get("finish_reason"):
            choice["finish_reason"] = None
            choice.pop("stop_reason", None)
            choice["paste_messages"] = with_ids(answered, [self._ids[index] for index in sorted(self._ids)])


def with_ids(messages: list[Message], ids: list[str]) -> list[Message]:
    """The same messages with the calls called `ids`, in their order, if these are as many as there are calls."""
    own = [call["id"] for message in messages for call in message.get("tool_calls", ())]
    if len(own) != len(ids):
        return messages
    new = dict(zip(own, ids, strict=True))
    return [
        {**message, "tool_call_id": new[message["tool_call_id"]]}
        if message["role"] == "tool"
        else {**message, "tool_calls": [{**call, "id": new[call["id"]]} for call in message["tool_calls"]]}
        for message in messages
    ]


def answered_turn(content: str | None, calls: list[tuple[str, str, str]], outputs: list[str]) -> list[Message]:
    """A turn and its tools' answers, as a client would send them.

    Args:
        calls: of each its id, the tool and the arguments as the parser gave them.
    """
    made = [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for call_id, name, arguments in calls
    ]
    told = [
        {"role": "tool", "tool_call_id": call_id, "content": output}
        for (call_id, _, _), output in zip(calls, outputs, strict=True)
    ]
    return [{"role": "assistant", "content": content, "tool_calls": made}, *told]
