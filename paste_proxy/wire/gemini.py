"""Google's Gemini API: generateContent and streamGenerateContent, on every host that speaks them."""

import re
from urllib.parse import unquote

from paste_proxy.events.values import Json
from paste_proxy.wire.gemini_answer import GeminiAnswer, Objects
from paste_proxy.wire.gemini_fields import field_of
from paste_proxy.wire.gemini_history import read_history
from paste_proxy.wire.loose import listing, mapping, read, string
from paste_proxy.wire.stream import StreamReader
from paste_proxy.wire.types import AnswerReader, LlmRequest

_MAX_ANSWER_BYTES = 8 * 2**20
"""Far beyond what a model says in one turn; bounds what one answer may hold of memory."""

_TURN = re.compile(r"(?P<model>[^/:]*):(?P<verb>generateContent|streamGenerateContent)\Z")


class Gemini:
    """The wire of `POST .../models/MODEL:generateContent` and `:streamGenerateContent`.

    Code Assist wraps request and answer in one more object; it is the same wire.

    Args:
        max_answer_bytes: size of the largest answer that is read.
    """

    def __init__(self, *, max_answer_bytes: int = _MAX_ANSWER_BYTES) -> None:
        self._max = max_answer_bytes

    def read_request(self, body: bytes, *, target: str) -> LlmRequest | None:
        """The request, or None if it is no turn: another verb, no JSON object, or without contents."""
        turn = _TURN.search(unquote(target.partition("?")[0]))
        if turn is None:
            return None
        outer = mapping(read(body))
        fields = mapping(outer.get("request")) or outer
        if not listing(fields.get("contents")):
            return None
        tools = [mapping(tool) for tool in listing(fields.get("tools"))]
        return LlmRequest(
            model=string(outer.get("model")) if fields is not outer else turn["model"],
            stream=turn["verb"] == "streamGenerateContent",
            messages=read_history(fields),
            tools=_names(tools),
            offered=tuple(tools),
            session_hint=(string(field_of(fields, "sessionId")) or None) if fields is not outer else None,
            utility=not any(_is_agents(tool) for tool in tools) and not string(field_of(fields, "cachedContent")),
        )

    def reader(self, *, content_type: str) -> AnswerReader:
        """A reader of one answer; anything not declared as JSON is read as an event stream."""
        return StreamReader(self._max, GeminiAnswer(), Objects() if "json" in content_type.lower() else None)


def _names(tools: list[dict[str, Json]]) -> tuple[str, ...]:
    entries = (mapping(entry) for tool in tools for entry in listing(field_of(tool, "functionDeclarations")))
    return tuple(name for entry in entries if (name := string(entry.get("name"))))


def _is_agents(tool: dict[str, Json]) -> bool:
    """Whether the agent runs what this entry offers; searches and code are run by the vendor.

    A request that offers nothing of the agent's is a side question: gemini-cli routes, checks for loops,
    searches and summarises so, also over a history with calls. A demanded form alone says nothing, since
    agents demand one of their last answer.
    """
    return bool(listing(field_of(tool, "functionDeclarations")) or field_of(tool, "computerUse") is not None)
