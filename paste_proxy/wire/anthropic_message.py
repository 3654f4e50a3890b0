"""A message of the Messages API: in a request's history, or the content of an answer.

Several tool results in one message are a Message each; whatever else it says follows them. What the vendor
runs itself (`server_tool_use`, `mcp_tool_use`) is no call of the agent's, and thinking is nobody's text:
clients may leave both out later, so that neither is part of a digest.
"""

from paste_proxy.events.values import Json
from paste_proxy.wire.digest import assistant_digest, digest_text, message_digest, output_digest, whole_arguments
from paste_proxy.wire.loose import canonical, listing, mapping, mended, piece, string
from paste_proxy.wire.types import Message, SeenCall, SeenOutput


def read_history(fields: dict[str, Json]) -> tuple[Message, ...]:
    """The messages of a request, its system instructions first."""
    instructions = blocks(fields.get("system"))
    history = [_plain("system", instructions)] if instructions else []
    for value in listing(fields.get("messages")):
        history += _read_message(mapping(value))
    return tuple(history)


def read_assistant(content: list[dict[str, Json]]) -> tuple[Message, bool]:
    """An assistant's message, and whether all of its calls are whole."""
    text = mended("".join(piece(block.get("text")) for block in content if _is_text(block)))
    calls, identities = [], []
    for order, block in enumerate(block for block in content if block.get("type") == "tool_use"):
        name, given = string(block.get("name")), read_input(block.get("input"))
        whole = whole_arguments(given)
        identities.append((name, whole[1] if whole else digest_text(given)))
        if whole and name:
            calls.append(SeenCall(order=order, call_id=string(block.get("id")), name=name, arguments=whole[0]))
    digest = assistant_digest(text, identities)
    return Message(role="assistant", text=text, digest=digest, calls=tuple(calls)), len(calls) == len(identities)


def blocks(content: Json) -> list[dict[str, Json]]:
    """The blocks of a content field; a string is one block of text."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [mapping(block) for block in listing(content)]


def read_input(given: Json) -> dict[str, Json] | str:
    """A call's input as `whole_arguments` takes it."""
    if isinstance(given, dict):
        return given
    return mended(given) if isinstance(given, str) else canonical(given)


def _read_message(fields: dict[str, Json]) -> list[Message]:
    role, content = string(fields.get("role")), blocks(fields.get("content"))
    if role == "assistant":
        return [read_assistant(content)[0]]
    results = [_read_result(block) for block in content if block.get("type") == "tool_result"]
    rest = [block for block in content if block.get("type") != "tool_result"]
    return [*results, _plain(role, rest)] if rest or not results else results


def _read_result(block: dict[str, Json]) -> Message:
    call_id, content = string(block.get("tool_use_id")), block.get("content")
    text, others = _said(blocks(content))
    return Message(
        role="tool",
        text=text,
        digest=output_digest(call_id, text, others),
        output=SeenOutput(call_id=call_id, output=content if others else text, failed=block.get("is_error") is True),
    )


def _plain(role: str, content: list[dict[str, Json]]) -> Message:
    text, others = _said(content)
    return Message(role=role, text=text, digest=message_digest(role, text, others))


def _said(content: list[dict[str, Json]]) -> tuple[str, list[Json]]:
    """The text of blocks, and the blocks that are none."""
    texts = [piece(block.get("text")) for block in content if _is_text(block)]
    return mended("\n".join(texts)), [block for block in content if not _is_text(block)]


def _is_text(block: dict[str, Json]) -> bool:
    return block.get("type", "text") == "text" and isinstance(block.get("text"), str)
