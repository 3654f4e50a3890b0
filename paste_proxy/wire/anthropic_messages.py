"""Anthropic's Messages API."""

import re
from collections.abc import Sequence

from paste_proxy.events.values import Json
from paste_proxy.wire.anthropic_answer import MessageAnswer, whole_end
from paste_proxy.wire.anthropic_message import read_history
from paste_proxy.wire.loose import listing, mapping, read, string
from paste_proxy.wire.stream import StreamReader
from paste_proxy.wire.types import AnswerReader, LlmRequest, Message
from paste_proxy.wire.whole import WholeReader

_MAX_ANSWER_BYTES = 8 * 2**20
"""Far beyond what a model says in one turn; bounds what one answer may hold of memory."""

_RUN_BY_THE_VENDOR = ("web_search_", "web_fetch_", "code_execution_", "tool_search_tool_", "advisor_", "mcp_toolset")
"""How the types of tools begin that the agent never runs. Other typed tools (bash, memory) are the agent's."""

_OLDER_USER = re.compile(r"_session_([0-9A-Za-z-]+)\Z")


class AnthropicMessages:
    """The wire of `POST .../messages`.

    Args:
        max_answer_bytes: size of the largest answer that is read.
    """

    def __init__(self, *, max_answer_bytes: int = _MAX_ANSWER_BYTES) -> None:
        self._max = max_answer_bytes

    def read_request(self, body: bytes, *, target: str) -> LlmRequest | None:
        """The request, or None if the body is no turn: no JSON object, without messages, or a count of tokens."""
        fields = mapping(read(body))
        if not listing(fields.get("messages")) or target.partition("?")[0].rstrip("/").endswith("/count_tokens"):
            return None
        history, tools, hint = read_history(fields), _tools(fields), _session_hint(fields)
        return LlmRequest(
            model=string(fields.get("model")),
            stream=fields.get("stream") is True,
            messages=history,
            tools=tuple(name for tool in tools if (name := string(tool.get("name")))),
            offered=tuple(tools),
            session_hint=hint,
            utility=not tools and _is_side_question(fields, history, hint),
        )

    def reader(self, *, content_type: str) -> AnswerReader:
        """A reader of one answer; anything not declared as JSON is read as an event stream."""
        if "json" in content_type.lower():
            return WholeReader(self._max, whole_end, complete_only=False)
        return StreamReader(self._max, MessageAnswer())


def _tools(fields: dict[str, Json]) -> list[dict[str, Json]]:
    """The tools offered that are the agent's to run; those that it defers are offered too."""
    tools = [mapping(tool) for tool in listing(fields.get("tools"))]
    return [tool for tool in tools if not string(tool.get("type")).startswith(_RUN_BY_THE_VENDOR)]


def _is_side_question(fields: dict[str, Json], messages: Sequence[Message], hint: str | None) -> bool:
    """Whether a request without the agent's tools is beside its task, rather than a talk without any tools.

    It is where a form is demanded of the answer (a classifier, an extractor), and where the body names the
    session as Claude Code does: its turns always offer tools, its titles, summaries of pages and nested
    searches do not. Where tools were used before, it is a turn like any other, perhaps the last one.
    """
    form = mapping(mapping(fields.get("output_config")).get("format")) or mapping(fields.get("output_format"))
    used = any(message.calls or message.output for message in messages)
    return not used and (bool(form) or hint is not None)


def _session_hint(fields: dict[str, Json]) -> str | None:
    """The session in Claude Code's `metadata.user_id`: JSON text, or in older versions its last part.

    A `user_id` of another form is a person with many sessions.
    """
    user = string(mapping(fields.get("metadata")).get("user_id"))
    if user.startswith("{"):
        return string(mapping(read(user.encode())).get("session_id")) or None
    older = _OLDER_USER.search(user)
    return older[1] if older else None
