"""A whole Chat Completions message: in a request's history, or as an answer that was not streamed."""

from paste_proxy.events.values import Json
from paste_proxy.wire.digest import assistant_digest, message_digest, output_digest, whole_arguments
from paste_proxy.wire.loose import listing, mapping, mended, piece, string
from paste_proxy.wire.toolslots import read_fragment
from paste_proxy.wire.types import Message, SeenCall, SeenOutput


def text_of(content: Json, between: str = "") -> str:
    """The text of a content field: a string, or the text parts of a list. May be cut within a character."""
    if isinstance(content, str):
        return content
    return between.join(piece(mapping(part).get("text")) for part in listing(content) if _is_text(part))


def beside_text(content: Json) -> list[Json]:
    """The parts of a content field that are no text."""
    return [part for part in listing(content) if not _is_text(part)]


def read_message(value: Json) -> Message:
    """The message in any JSON value; what cannot be read of it is left empty."""
    fields = mapping(value)
    role, content = string(fields.get("role")), fields.get("content")
    if role == "assistant":
        return read_assistant(fields)[0]
    text = mended(text_of(content, between="\n"))
    others = beside_text(content)
    if role in {"tool", "function"}:
        call_id = string(fields.get("tool_call_id"))
        output: Json = content if others else text
        return Message(
            role=role,
            text=text,
            digest=output_digest(call_id, text, others),
            output=SeenOutput(call_id=call_id, output=output),
        )
    return Message(role=role, text=text, digest=message_digest(role, text, others))


def read_assistant(fields: dict[str, Json]) -> tuple[Message, bool]:
    """An assistant's message, and whether all of its calls are whole."""
    text = mended(text_of(fields.get("content")))
    calls, identities = [], []
    for order, entry in enumerate(_entries(fields)):
        fragment = read_fragment(entry)
        given = mended(fragment.text)
        whole = whole_arguments({"input": given} if fragment.free else given)
        identities.append((fragment.name, whole[1] if whole else given.strip()))
        if whole and fragment.name:
            calls.append(SeenCall(order=order, call_id=fragment.call_id, name=fragment.name, arguments=whole[0]))
    digest = assistant_digest(text, identities)
    message = Message(role="assistant", text=text, digest=digest, calls=tuple(calls))
    return message, len(calls) == len(identities)


def _entries(fields: dict[str, Json]) -> list[Json]:
    entries = listing(fields.get("tool_calls"))
    legacy = mapping(fields.get("function_call"))
    return [*entries, {"function": legacy}] if legacy else entries


def _is_text(part: Json) -> bool:
    return isinstance(part, dict) and isinstance(part.get("text"), str)
