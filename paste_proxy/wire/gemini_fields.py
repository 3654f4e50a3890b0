"""Fields of Gemini's messages, which JSON spells one way and some clients another."""

import re
from functools import cache

from paste_proxy.events.values import Json
from paste_proxy.wire.loose import listing, mapping, string

_CAPITAL = re.compile("[A-Z]")


def field_of(fields: dict[str, Json], name: str) -> Json:
    """A field by its JSON name (`functionCall`), or where that is absent by its proto name (`function_call`)."""
    return fields[name] if name in fields else fields.get(_proto_name(name))


def parts_of(content: Json) -> list[dict[str, Json]]:
    """The parts of a content; a string is one part of text."""
    if isinstance(content, str):
        return [{"text": content}]
    return [
        {"text": part} if isinstance(part, str) else mapping(part) for part in listing(mapping(content).get("parts"))
    ]


def is_text(part: dict[str, Json]) -> bool:
    """Whether a part is text that the model or the user says; thoughts are none."""
    return isinstance(part.get("text"), str) and part.get("thought") is not True


def text_of(part: dict[str, Json]) -> str:
    """The text of a text part."""
    return string(part.get("text"))


@cache
def _proto_name(name: str) -> str:
    return _CAPITAL.sub(lambda capital: "_" + capital[0].lower(), name)
