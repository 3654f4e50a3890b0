"""An invocation and what makes two of them equal.

Tools have one identity, `server/name` for an MCP tool and plain `name` for all others, whatever
spelling the LLM's wire uses.
"""

import re
from dataclasses import dataclass, field
from hashlib import blake2b

from paste_proxy.events.values import Json, canonical_text, loads

_LONGEST_READABLE_KEY = 400
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Invocation:
    """A tool and its arguments; `key` is what equality means.

    Raises:
        ValueError: the arguments are not a JSON object.
    """

    tool: str
    arguments: dict[str, Json] = field(compare=False)
    key: str = field(init=False, repr=False)
    """The canonical key: tool and canonical arguments, the latter as a digest when long. Always valid UTF-8."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", canonical_key(self.tool, self.arguments))


def canonical_key(tool: str, arguments: dict[str, Json]) -> str:
    """The text that is equal for two invocations exactly if they ask for the same thing.

    Raises:
        ValueError: the arguments are not JSON.
    """
    if not isinstance(arguments, dict):
        raise ValueError(f"arguments of {tool!r} are a {type(arguments).__name__}, not an object")
    try:
        text = canonical_text(arguments)
    except (TypeError, ValueError) as fault:
        raise ValueError(f"arguments of {tool!r} are not JSON: {fault}") from fault
    if len(text) > _LONGEST_READABLE_KEY or _has_surrogate(text):
        text = "#" + blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return f"{tool.encode('utf-8', 'backslashreplace').decode()} {text}" if _has_surrogate(tool) else f"{tool} {text}"


def _has_surrogate(text: str) -> bool:
    """Whether the text cannot be written as UTF-8, so that a log or an answer that shows it would break."""
    return not text.isascii() and _SURROGATE.search(text) is not None


def read_arguments(raw: str | bytes | dict[str, Json] | None) -> dict[str, Json]:
    """The arguments of a call as a wire carries them.

    Absent, null, empty and blank arguments all mean `{}`.

    Raises:
        ValueError: the text is not one whole JSON object, so the call is not complete.
    """
    if isinstance(raw, dict):
        return raw
    if raw is None or not raw.strip():
        return {}
    value = loads(raw)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ValueError(f"arguments are a JSON {type(value).__name__}, not an object")
    return value


def server_of(tool: str) -> str:
    """The server part of a tool's identity, empty for a tool that no server owns."""
    server, slash, _ = tool.partition("/")
    return server if slash else ""


def name_of(tool: str) -> str:
    """The bare name of a tool, without its server. One that begins with a slash has none, and is all name."""
    server, slash, name = tool.partition("/")
    return name if server and slash else tool
