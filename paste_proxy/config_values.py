"""What a value of the config may be."""

import re
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

LONGEST_S = 10 * 365 * 86_400.0

PositiveInt = Annotated[int, Field(strict=True, gt=0)]
Port = Annotated[int, Field(strict=True, gt=0, le=65535)]
Seconds = Annotated[float, Field(strict=True, gt=0, le=LONGEST_S)]
Turns = Annotated[float, Field(strict=True, gt=0, le=100_000)]
Money = Annotated[float, Field(strict=True, ge=0, le=1e9)]


def _web_address(text: str) -> str:
    """Raises ValueError where nothing could be sent to it."""
    try:
        parts = urlsplit(text)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good or any(character.isspace() for character in text):
        raise ValueError(
            "an address such as https://api.openai.com/v1: http:// or https://, a host, "
            "and a port from 1 to 65535 where one is given"
        )
    return text


def _matching(pattern: str, words: str) -> AfterValidator:
    """Takes only texts of a pattern; `words` say it for people."""

    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(words)
        return text

    return AfterValidator(check)


WebAddress = Annotated[str, AfterValidator(_web_address)]
UrlPath = Annotated[str, _matching(r"(?s)/.*", "a path that begins with /, such as /v1")]
PlainName = Annotated[str, _matching(r"[A-Za-z0-9_.-]+", "a name of letters, digits, '_', '.' and '-'")]
ToolName = Annotated[str, _matching(r"[^/\s]+", "a name without slashes and white space")]
