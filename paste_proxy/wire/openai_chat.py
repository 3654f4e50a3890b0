"""OpenAI-compatible Chat Completions."""

from collections.abc import Sequence
from functools import partial

from paste_proxy.events.values import Json
from paste_proxy.wire.loose import listing, mapping, read, string
from paste_proxy.wire.openai_answer import ChatAnswer, whole_end
from paste_proxy.wire.openai_message import read_assistant, read_message
from paste_proxy.wire.openai_turn import ChatTurn
from paste_proxy.wire.stream import StreamReader
from paste_proxy.wire.types import AnswerReader, LlmRequest, Message
from paste_proxy.wire.whole import WholeReader

_MAX_ANSWER_BYTES = 8 * 2**20
"""Far beyond what a model says in one turn; bounds what one answer may hold of memory."""

_FORMS = {"json_schema", "json_object"}
_IN_METADATA = ("session_id", "sessionId", "thread_id", "conversation_id")
_AT_TOP = ("session_id", "litellm_session_id", "conversation_id")
"""Where clients put a session's id. Never `user`: that is a person with many sessions; nor `prompt_cache_key`,
which all that begins alike may share."""


class OpenAiChat:
    """The wire of `POST .../chat/completions`.

    Args:
        max_answer_bytes: size of the largest answer that is read.
    """

    def __init__(self, *, max_answer_bytes: int = _MAX_ANSWER_BYTES) -> None:
        self._max = max_answer_bytes

    def read_request(self, body: bytes, *, target: str) -> LlmRequest | None:
        """The request, or None if the body is no chat request: no JSON object, or without messages."""
        fields = mapping(read(body))
        messages = listing(fields.get("messages"))
        if not messages:
            return None
        history = tuple(read_message(message) for message in messages)
        return LlmRequest(
            model=string(fields.get("model")),
            stream=fields.get("stream") is True,
            messages=history,
            tools=_tools(fields),
            offered=tuple(_offered(fields)),
            session_hint=_session_hint(fields),
            utility=_is_utility(fields, history),
        )

    def reader(self, *, content_type: str) -> AnswerReader:
        """A reader of one answer; anything not declared as JSON is read as an event stream."""
        if "json" in content_type.lower():
            return WholeReader(self._max, partial(whole_end, read_assistant=read_assistant))
        return StreamReader(self._max, ChatAnswer(ChatTurn()))


def _offered(fields: dict[str, Json]) -> list[Json]:
    """The tools offered, those of the older `functions` too."""
    return [*listing(fields.get("tools")), *listing(fields.get("functions"))]


def _tools(fields: dict[str, Json]) -> tuple[str, ...]:
    """Names of the tools offered; of a custom tool too."""
    names = []
    for entry in _offered(fields):
        tool = mapping(entry)
        inner = mapping(tool.get("function")) or mapping(tool.get("custom")) or tool
        if name := string(inner.get("name")):
            names.append(name)
    return tuple(names)


def _is_utility(fields: dict[str, Json], messages: Sequence[Message]) -> bool:
    """Whether a form is asked for, of a model that has no tools and has used none: a classifier, an extractor."""
    form = string(mapping(fields.get("response_format")).get("type"))
    used = any(message.calls or message.output for message in messages)
    return form in _FORMS and not _tools(fields) and not used


def _session_hint(fields: dict[str, Json]) -> str | None:
    metadata = mapping(fields.get("metadata"))
    places = [*(metadata.get(key) for key in _IN_METADATA), *(fields.get(key) for key in _AT_TOP)]
    return next((hint for place in places if (hint := string(place))), None)
