"""The clients that can be wrapped."""

import shlex
from collections.abc import Sequence

from paste_proxy.agents.wrap.claude_code import ClaudeCode
from paste_proxy.agents.wrap.client import Client
from paste_proxy.agents.wrap.codex import Codex
from paste_proxy.agents.wrap.gemini_cli import GeminiCli
from paste_proxy.agents.wrap.qwen_code import QwenCode
from paste_proxy.errors import InputFault

CLIENTS: tuple[Client, ...] = (GeminiCli(), QwenCode(), Codex(), ClaudeCode())

_BY_HAND = (
    "one of {known}; for any other agent run `paste-proxy serve`: name its LLM endpoint under [[llm]] and its "
    "MCP servers under [mcp.NAME] in paste.toml, and point its base URL and MCP configuration at the sidecar"
)


def recognise(command: Sequence[str]) -> Client:
    """The client that a command starts.

    Raises:
        InputFault: it starts none that is known.
    """
    for client in CLIENTS:
        if client.recognises(tuple(command)):
            return client
    known = ", ".join(client.name for client in CLIENTS)
    raise InputFault(
        shlex.join(command) or "(no command)", "no agent that can be wrapped", _BY_HAND.format(known=known)
    )
