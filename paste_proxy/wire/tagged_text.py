"""Chat Completions of agents whose calls are text: `<tool_call>..</tool_call>` from the model, and
`<tool_response>..</tool_response>` as the user's answer.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from paste_proxy.events.values import Json
from paste_proxy.wire.loose import listing, mapping, read, string
from paste_proxy.wire.openai_answer import ChatAnswer, whole_end
from paste_proxy.wire.openai_chat import OpenAiChat
from paste_proxy.wire.openai_message import text_of
from paste_proxy.wire.stream import StreamReader
from paste_proxy.wire.tagged_history import read_tagged
from paste_proxy.wire.tagged_turn import TaggedTurn, read_text
from paste_proxy.wire.types import AnswerReader, LlmRequest, Message
from paste_proxy.wire.whole import WholeReader

_MAX_ANSWER_BYTES = 8 * 2**20
_DESCRIBED = re.compile(r"<tools>(.*?)</tools>", re.DOTALL)


class TaggedText:
    """The wire of Qwen DeepResearch and its kin. It has no ids: a call's id is made of the call itself.

    Args:
        first_only: as in that agent, only the first call of a turn counts, and one in which the word python
            stands is code for its interpreter. False for agents that run every call of a turn and have no
            such rule (Hermes, Qwen-Agent). Where it is unknown, first only is the careful choice: a call
            that the agent never makes would be waited for.
        max_answer_bytes: size of the largest answer that is read.
    """

    def __init__(self, *, first_only: bool = True, max_answer_bytes: int = _MAX_ANSWER_BYTES) -> None:
        self._first_only, self._max = first_only, max_answer_bytes
        self._chat = OpenAiChat()

    def read_request(self, body: bytes, *, target: str) -> LlmRequest | None:
        """The request, or None if the body is no chat request."""
        request = self._chat.read_request(body, target=target)
        if request is None:
            return None
        messages = tuple(read_tagged(request.messages, first_only=self._first_only))
        described = [tool for message in messages if message.role == "system" for tool in _described(message.text)]
        return replace(
            request,
            messages=messages,
            tools=(*request.tools, *(name for name, _ in described)),
            offered=(*request.offered, *(tool for _, tool in described)),
            utility=request.utility and not any(message.calls for message in messages),
        )

    def reader(self, *, content_type: str) -> AnswerReader:
        """A reader of one answer; anything not declared as JSON is read as an event stream."""
        if "json" in content_type.lower():
            return WholeReader(self._max, partial(whole_end, read_assistant=self._read_assistant))
        return StreamReader(self._max, ChatAnswer(TaggedTurn(first_only=self._first_only)))

    def _read_assistant(self, fields: dict[str, Json]) -> tuple[Message, bool]:
        return read_text(text_of(fields.get("content")), first_only=self._first_only)


def _described(instructions: str) -> Iterator[tuple[str, Json]]:
    """The tools that the instructions describe, by name: JSON in `<tools>` tags, a list or one tool a line."""
    for block in _DESCRIBED.findall(instructions):
        entries = listing(read(block.encode("utf-8", "surrogatepass")))
        for entry in entries or [read(line.encode("utf-8", "surrogatepass")) for line in block.splitlines()]:
            tool = mapping(entry)
            if name := string((mapping(tool.get("function")) or tool).get("name")):
                yield name, tool
