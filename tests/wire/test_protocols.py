"""Which protocol a request speaks."""

import pytest

from paste_proxy.wire.protocols import WIRES, wire_of


@pytest.mark.parametrize(
    ("target", "wire"),
    [
        ("/v1/chat/completions", "openai_chat"),
        ("/llm/chat/completions/?x=1", "openai_chat"),
        ("/v1/embeddings", None),
        ("/v1/chat/completions/abc", None),
    ],
)
def test_the_path_says_it(target: str, wire: str | None) -> None:
    assert wire_of("auto", target) == wire


def test_a_configured_protocol_holds_for_every_path() -> None:
    assert wire_of("openai_chat", "/any") == "openai_chat"


def test_every_protocol_is_one_that_a_config_can_name() -> None:
    from paste_proxy.config import LlmRoute

    assert all(LlmRoute(path="/", upstream="http://a", wire=wire).wire == wire for wire in WIRES)  # type: ignore[arg-type]
