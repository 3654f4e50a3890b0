"""Which protocol a request speaks."""

import pytest

from paste_proxy.wire.protocols import WIRES, wire_of


@pytest.mark.parametrize(
    ("target", "wire"),
    [
        ("/v1/chat/completions", "openai_chat"),
        ("/llm/chat/completions/?x=1", "openai_chat"),
        ("/v1/messages?beta=true", "anthropic_messages"),
        ("/run/r9/v1/messages", "anthropic_messages"),
        ("/v1/messages/count_tokens?beta=true", None),
        ("/v1/messages/batches", None),
        ("/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse", "gemini"),
        ("/v1beta/models/gemini-2.5-pro%3AgenerateContent", "gemini"),
        ("/v1/projects/p/locations/l/publishers/google/models/g:streamGenerateContent", "gemini"),
        ("/v1internal:streamGenerateContent?alt=sse", "gemini"),
        ("/v1beta/models/gemini-2.5-pro:countTokens", None),
        ("/v1beta/models/g:batchGenerateContent", None),
        ("/v1/responses", "openai_responses"),
        ("/openai/responses/?api-version=1", "openai_responses"),
        ("/v1/responses/resp_1", None),
        ("/v1/responses/resp_1/cancel", None),
        ("/v1/responses/compact", None),
        ("/v1/responses/input_tokens", None),
        ("/v1/embeddings", None),
        ("/v1/chat/completions/abc", None),
    ],
)
def test_the_path_says_it(target: str, wire: str | None) -> None:
    assert wire_of("auto", target) == wire


def test_a_configured_protocol_holds_for_every_path() -> None:
    assert wire_of("openai_chat", "/any") == "openai_chat"
    assert wire_of("tagged_text", "/v1/chat/completions") == "tagged_text"


def test_every_protocol_is_one_that_a_config_can_name() -> None:
    from paste_proxy.config import LlmRoute

    assert all(LlmRoute(path="/", upstream="http://a", wire=wire).wire == wire for wire in WIRES)  # type: ignore[arg-type]
