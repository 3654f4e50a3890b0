"""The LLM protocols by name, and which of them a request speaks."""

import re

from paste_proxy.wire.anthropic_messages import AnthropicMessages
from paste_proxy.wire.gemini import Gemini
from paste_proxy.wire.openai_chat import OpenAiChat
from paste_proxy.wire.openai_responses import OpenAiResponses
from paste_proxy.wire.tagged_text import TaggedText
from paste_proxy.wire.types import Wire

WIRES: dict[str, Wire] = {
    "openai_chat": OpenAiChat(),
    "openai_responses": OpenAiResponses(),
    "tagged_text": TaggedText(),
    "hermes_text": TaggedText(first_only=False),
    "anthropic_messages": AnthropicMessages(),
    "gemini": Gemini(),
}

AUTO = "auto"

_BY_PATH = (
    (re.compile(r"/chat/completions/?$"), "openai_chat"),
    (re.compile(r"/responses/?$"), "openai_responses"),
    (re.compile(r"/messages/?$"), "anthropic_messages"),
    (re.compile(r":(?:generateContent|streamGenerateContent)$"), "gemini"),
)


def wire_of(configured: str, target: str) -> str | None:
    """The protocol of a request: the one its route is configured with, else what its path says.

    Args:
        configured: a name in `WIRES`, or `auto`.
        target: the raw request target, path and query.

    Returns:
        A name in `WIRES`; None for a request that is no LLM's turn (embeddings, a count of tokens).
    """
    if configured != AUTO:
        return configured
    path = target.partition("?")[0].replace("%3A", ":").replace("%3a", ":")
    return next((name for ending, name in _BY_PATH if name in WIRES and ending.search(path)), None)
