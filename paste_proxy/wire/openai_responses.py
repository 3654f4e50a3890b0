"""OpenAI Responses."""

from collections.abc import Iterator

from paste_proxy.events.values import Json
from paste_proxy.wire.digest import message_digest
from paste_proxy.wire.loose import listing, mapping, read, string
from paste_proxy.wire.responses_answer import ResponseAnswer, whole_end
from paste_proxy.wire.responses_items import read_history, spelled
from paste_proxy.wire.stream import StreamReader
from paste_proxy.wire.types import AnswerReader, LlmRequest, Message
from paste_proxy.wire.whole import WholeReader

_MAX_ANSWER_BYTES = 32 * 2**20
"""A turn is told several times over, by deltas, by items and at the end, which also repeats the request's tools."""

_FORMS = {"json_schema", "json_object"}
_GOES_ON = ("previous_response_id", "conversation")
_IN_METADATA = ("session_id", "sessionId", "thread_id", "conversation_id")
_OF_AGENT = {"local_shell": "local_shell", "shell": "shell", "apply_patch": "apply_patch"}
"""Kinds of tools that the vendor defines and the agent runs, by the name that their calls have."""


class OpenAiResponses:
    """The wire of `POST .../responses`.

    Args:
        max_answer_bytes: size of the largest answer that is read.
    """

    def __init__(self, *, max_answer_bytes: int = _MAX_ANSWER_BYTES) -> None:
        self._max = max_answer_bytes

    def read_request(self, body: bytes, *, target: str) -> LlmRequest | None:
        """The request, or None if the body is no Responses request: no JSON object, or without input."""
        fields = mapping(read(body))
        given = fields.get("input")
        if not isinstance(given, str | list) and not mapping(fields.get("prompt")):
            return None
        history = tuple(_history(string(fields.get("instructions")), given))
        tools = tuple(_tools(listing(fields.get("tools"))))
        return LlmRequest(
            model=string(fields.get("model")),
            stream=fields.get("stream") is True,
            messages=history,
            tools=tools,
            offered=tuple(listing(fields.get("tools"))),
            session_hint=_session_hint(fields),
            previous=string(fields.get("previous_response_id")) or None,
            utility=not tools and _is_utility(fields, history),
        )

    def reader(self, *, content_type: str) -> AnswerReader:
        """A reader of one answer; anything not declared as JSON is read as an event stream."""
        if "json" in content_type.lower():
            return WholeReader(self._max, whole_end)
        return StreamReader(self._max, ResponseAnswer())


def _history(instructions: str, given: Json) -> Iterator[Message]:
    if instructions:
        yield Message(role="system", text=instructions, digest=message_digest("system", instructions))
    items: list[Json] = [{"role": "user", "content": given}] if isinstance(given, str) else listing(given)
    yield from read_history(items)


def _tools(entries: list[Json], namespace: str = "") -> Iterator[str]:
    """Names of the tools that the agent runs; those of a namespace with its name before them."""
    for tool in map(mapping, entries):
        kind, name = string(tool.get("type")), string(tool.get("name"))
        if kind == "namespace":
            yield from _tools(listing(tool.get("tools")), name)
        elif kind.startswith("computer"):
            yield "computer"
        elif named := _OF_AGENT.get(kind) or (kind in {"function", "custom"} and name):
            yield spelled(namespace, named)


def _is_utility(fields: dict[str, Json], messages: tuple[Message, ...]) -> bool:
    """Whether a form is asked for, of a model that is known to have used no tools: a classifier, an extractor."""
    form = string(mapping(mapping(fields.get("text")).get("format")).get("type"))
    used = any(message.calls or message.output for message in messages)
    return form in _FORMS and not used and not any(fields.get(key) for key in _GOES_ON)


def _session_hint(fields: dict[str, Json]) -> str | None:
    """The conversation's id; a `prompt_cache_key` is none, since all that begins alike may share one."""
    metadata = (mapping(fields.get(name)) for name in ("metadata", "client_metadata"))
    conversation = fields.get("conversation")
    places = [
        *(inside.get(key) for inside in metadata for key in _IN_METADATA),
        mapping(conversation).get("id") or conversation,
    ]
    return next((hint for place in places if (hint := string(place))), None)
