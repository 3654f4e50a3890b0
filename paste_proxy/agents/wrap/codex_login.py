"""Which of OpenAI's endpoints Codex's login is for."""

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

OPENAI = "https://api.openai.com/v1"
CHATGPT = "https://chatgpt.com/backend-api/codex"
_KEYS = ("CODEX_API_KEY", "OPENAI_API_KEY")


def endpoint(home: Path, env: Mapping[str, str]) -> str | None:
    """Where Codex asks with the login it has; None: it has none, or keeps it where it cannot be looked at.

    Args:
        home: `CODEX_HOME`.
    """
    if env.get(_KEYS[0]):
        return OPENAI
    login = _object(home / "auth.json")
    if login:
        by_key = login.get("auth_mode") == "apikey" or (not login.get("tokens") and login.get("OPENAI_API_KEY"))
        return OPENAI if by_key else CHATGPT
    return OPENAI if env.get(_KEYS[1]) else None


def signed_in_servers(home: Path) -> set[str]:
    """MCP servers that Codex itself has signed in to, as far as its files show."""
    found = _object(home / ".credentials.json").values()
    return {name for one in found if isinstance(one, dict) and isinstance(name := one.get("server_name"), str)}


def _object(path: Path) -> dict[str, Any]:
    with suppress(OSError, ValueError):
        found = json.loads(path.read_text("utf-8"))
        return found if isinstance(found, dict) else {}
    return {}
