"""The text that a tool's answer consists of, and the same answer with another text in it."""

from dataclasses import replace

from paste_proxy.events.result import ToolResult
from paste_proxy.events.values import Json, dumps, loads

_MCP = {"content", "structuredContent", "isError", "resultType"}


def text_of(result: ToolResult) -> str | None:
    """The one text of an answer: a plain text, a JSON string, or an MCP result of one text block.

    None where there is none, or where `with_text` could not put another in its place.
    """
    if result.content_type.startswith("text/"):
        try:
            return result.body.decode()
        except UnicodeDecodeError:
            return None
    try:
        said = loads(result.body)
        known = dumps(said) == result.body
    except ValueError:
        return None
    text = said if isinstance(said, str) else _mcp_text(said)
    return text if known and text is not None and _is_unicode(text) else None


def with_text(result: ToolResult, text: str) -> ToolResult:
    """The answer with this text in place of its own; `text_of` must have given one.

    Written as the tool writes: `text_of` has seen that what it wrote is what `dumps` writes.
    """
    if result.content_type.startswith("text/"):
        return replace(result, body=text.encode())
    said = loads(result.body)
    if not isinstance(said, dict):
        return replace(result, body=dumps(text))
    structured = said.get("structuredContent")
    changed: dict[str, Json] = {"content": [{"type": "text", "text": text}]}
    if isinstance(structured, dict):
        changed["structuredContent"] = dict.fromkeys(structured, text)
    return replace(result, body=dumps({key: changed.get(key, value) for key, value in said.items()}))


def _is_unicode(text: str) -> bool:
    """Whether it has no half of a surrogate pair, whose writers differ in how they write the rest."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _mcp_text(said: Json) -> str | None:
    """The text of an MCP result that holds nothing else, once or once more as the only field of its structure."""
    if not isinstance(said, dict) or not said.keys() <= _MCP or said.get("isError", False) is not False:
        return None
    match said.get("content"):
        case [{"type": "text", "text": str(text), **more}] if not more:
            structured = said.get("structuredContent")
            alike = structured is None or (isinstance(structured, dict) and list(structured.values()) == [text])
            return text if alike else None
    return None
