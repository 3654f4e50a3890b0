"""What LLM and tool spans say, whichever convention wrote it.

The GenAI conventions put messages of parts into `gen_ai.input.messages` and `gen_ai.output.messages`, as
attributes or on an event; before that each message was an event of its own. OpenInference and OpenLLMetry
spread messages over numbered attributes, `llm.input_messages.0.message.role`, `gen_ai.prompt.0.role`.
"""

from dataclasses import dataclass

from paste_proxy.events.values import Json, loads
from paste_proxy.importers.messages import calls_of
from paste_proxy.importers.otel_span import Span
from paste_proxy.importers.said import result_of, text_of
from paste_proxy.wire.loose import listing, mapping, string

_ASKED = ("gen_ai.input.messages", "gen_ai.prompt", "llm.input_messages")
_ANSWERED = ("gen_ai.output.messages", "gen_ai.completion", "llm.output_messages")
_ROLES = {"gen_ai.user.message": "user", "gen_ai.assistant.message": "assistant", "gen_ai.tool.message": "tool"}
_CHOICE = "gen_ai.choice"
_DIGITS = 7
"""More of them are no place in a list of messages."""


@dataclass(frozen=True, slots=True)
class Said:
    """One message."""

    role: str
    text: str = ""
    calls: tuple[tuple[str, str, Json], ...] = ()
    """Id, name and arguments."""
    answers: tuple[tuple[str, Json], ...] = ()
    """Id of the call and the tool's answer."""


def heard(span: Span) -> list[Said]:
    """What is new to the LLM of what it was given: what stands after its last own message."""
    messages = [*_told(span, _ASKED), *_events(span)]
    own = [place for place, message in enumerate(messages) if message.role == "assistant"]
    return messages[own[-1] + 1 :] if own else messages


def answered(span: Span) -> list[Said]:
    """What the LLM said."""
    choices = [attributes for name, attributes in span.events if name == _CHOICE]
    messages = (_read(choice.get("message")) or choice for choice in choices)
    return [*_told(span, _ANSWERED), *(_said(mapping(message), "assistant") for message in messages)]


def _told(span: Span, names: tuple[str, ...]) -> list[Said]:
    for attributes in (span.attributes, *(attributes for _, attributes in span.events)):
        for name in names:
            messages: Json = _read(attributes.get(name)) if name in attributes else _numbered(attributes, name)
            if listing(messages):
                return [_said(mapping(message), "") for message in listing(messages)]
    return []


def _events(span: Span) -> list[Said]:
    return [_said(attributes, _ROLES[name]) for name, attributes in span.events if name in _ROLES]


def _said(message: dict[str, Json], role: str) -> Said:
    message = mapping(message.get("message")) or message
    role = string(message.get("role")) or role
    parts = [mapping(part) for part in listing(message.get("parts"))]
    if parts:
        texts = (string(part.get("content")) for part in parts if part.get("type") == "text")
        calls = (part for part in parts if part.get("type") == "tool_call")
        answers = (part for part in parts if part.get("type") == "tool_call_response")
        return Said(
            role,
            "\n".join(filter(None, texts)),
            tuple((string(call.get("id")), string(call.get("name")), call.get("arguments")) for call in calls),
            tuple((string(one.get("id")), one.get("response", one.get("result"))) for one in answers),
        )
    content = message.get("content", message.get("contents"))
    if role == "tool":
        call_id = string(message.get("tool_call_id")) or string(message.get("id"))
        return Said(role, answers=((call_id, result_of(content)),))
    plain = {**message, "tool_calls": _read(message.get("tool_calls"))}
    plain["tool_calls"] = [_unnested(call) for call in listing(plain["tool_calls"])]
    return Said(role, text_of(content), tuple(calls_of(plain)))


def _unnested(call: Json) -> Json:
    return mapping(call).get("tool_call", call)


def _numbered(attributes: dict[str, Json], name: str) -> list[Json]:
    """The messages that are spread over attributes `name.<number>.<field>...`, in order of their numbers."""
    held: dict[str, Json] = {}
    for key, value in attributes.items():
        if key.startswith(name + "."):
            _put(held, key[len(name) + 1 :].split("."), value)
    return [_listed(held[place]) for place in sorted(filter(_is_place, held), key=int)]


def _put(held: dict[str, Json], path: list[str], value: Json) -> None:
    for name in path[:-1]:
        inner = held.setdefault(name, {})
        if not isinstance(inner, dict):
            return
        held = inner
    held.setdefault(path[-1], value)


def _listed(value: Json, depth: int = 0) -> Json:
    """The value with every object of numbered fields made the list it stands for."""
    if not isinstance(value, dict) or depth > 20:
        return value
    if value and all(map(_is_place, value)):
        return [_listed(value[key], depth + 1) for key in sorted(value, key=int)]
    return {key: _listed(inner, depth + 1) for key, inner in value.items()}


def _is_place(name: str) -> bool:
    return name.isascii() and name.isdigit() and len(name) < _DIGITS


def _read(value: Json) -> Json:
    """A value that may be JSON in a text."""
    if not isinstance(value, str):
        return value
    try:
        return loads(value)
    except ValueError:
        return value
