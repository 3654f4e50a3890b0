"""Files in which agents keep settings: JSON with comments, and `.env`."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import pyjson5

from paste_proxy.errors import InputFault
from paste_proxy.events.values import Json

Settings = dict[str, Json]

_ENV_LINE = re.compile(
    r"""^[ \t]*(?:export[ \t]+)?(?P<name>[\w.-]+)[ \t]*(?:=|:[ \t])[ \t]*"""
    r"""(?P<value>'[^']*'|"(?:\\.|[^"])*"|`[^`]*`|[^#\r\n]*)""",
    re.MULTILINE,
)


def read_settings(path: Path) -> Settings:
    """The object in a settings file; empty where there is no file.

    Raises:
        InputFault: it cannot be read or holds no object.
    """
    try:
        found: Json = pyjson5.decode(path.read_text("utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, pyjson5.Json5Exception) as fault:
        raise InputFault(str(path), f"cannot be read ({fault})", "a JSON object") from fault
    if not isinstance(found, dict):
        raise InputFault(str(path), "is no JSON object", "one")
    return found


def read_if_good(path: Path) -> Settings:
    """The object in a file without which the client starts; empty where it cannot be read."""
    try:
        return read_settings(path)
    except InputFault:
        return {}


def read_env_file(path: Path) -> dict[str, str]:
    """The variables of a `.env` file; empty where it cannot be read."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return {}
    return {found["name"]: _unquoted(found["value"].strip()) for found in _ENV_LINE.finditer(text)}


def merged(layers: Iterable[Mapping[str, Json]]) -> Settings:
    """Objects laid over one another, later ones on top; objects inside are merged in turn."""
    whole: Settings = {}
    for layer in layers:
        for key, value in layer.items():
            under = whole.get(key)
            whole[key] = merged((under, value)) if isinstance(under, dict) and isinstance(value, dict) else value
    return whole


def at(settings: Json, *keys: str) -> Json:
    """What stands at a path of keys; None where there is nothing."""
    for key in keys:
        settings = settings.get(key) if isinstance(settings, dict) else None
    return settings


def section(settings: Json, *keys: str) -> Settings:
    """The object at a path of keys; empty where there is none."""
    found = at(settings, *keys)
    return found if isinstance(found, dict) else {}


def text(settings: Json, *keys: str) -> str:
    """The text at a path of keys; empty where there is none."""
    found = at(settings, *keys)
    return found if isinstance(found, str) else ""


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"`":
        inner = value[1:-1]
        return inner.replace("\\n", "\n").replace("\\r", "\r") if value[0] == '"' else inner
    return value
