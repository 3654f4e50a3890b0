"""What an MCP tool result says, without its wrapping: the values that later arguments may be copied from."""

from paste_proxy.events.values import Json, loads


def payload(result_raw: bytes) -> Json:
    """The content of a `tools/call` result.

    One text is itself, or its value where it is the JSON of an object or a list; several parts are a list;
    a result without text is its structured content. What is no result at all is given as it stands.
    """
    try:
        result = loads(result_raw)
    except ValueError:
        return result_raw.decode("utf-8", "replace")
    if not isinstance(result, dict) or not isinstance(content := result.get("content"), list):
        return result
    texts = [_spoken(part["text"]) for part in content if isinstance(part, dict) and isinstance(part.get("text"), str)]
    if not texts:
        return result.get("structuredContent", content)
    return texts[0] if len(texts) == 1 else texts


def _spoken(text: Json) -> Json:
    if isinstance(text, str) and text.lstrip()[:1] in ("{", "["):
        try:
            return loads(text)
        except ValueError:
            return text
    return text
