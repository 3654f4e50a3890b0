"""Any wire's readers, fed; and recorded exchanges as its requests and answers."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from paste_proxy.wire.types import LlmRequest, SeenCall, TurnEnd, Wire

SSE = "text/event-stream"
JSON = "application/json; charset=UTF-8"


def answered_by(
    wire: Wire, chunks: Iterable[bytes], *, clean: bool = True, content_type: str = SSE
) -> tuple[list[SeenCall], TurnEnd]:
    """What the wire's reader makes of these chunks: the calls as they were given, and the end."""
    reader = wire.reader(content_type=content_type)
    seen = [call for chunk in chunks for call in reader.feed(chunk)]
    return seen, reader.close(clean=clean)


def request_of(wire: Wire, body: Any, target: str) -> LlmRequest:
    """The request in a body given as a value."""
    request = wire.read_request(json.dumps(body).encode(), target=target)
    assert request is not None
    return request


def recorded(folder: Path) -> list[tuple[str, Any, bytes, str]]:
    """Target, request body, answer's body and content type of each recorded POST, in their order."""
    found = []
    for path in sorted(folder.glob("*_POST_*.json")):
        exchange = json.loads(path.read_text("utf-8"))
        asked, answer = exchange["request"], exchange["response"]
        body = answer["body"] if isinstance(answer["body"], str) else json.dumps(answer["body"])
        found.append((asked["path"], asked["body"], body.encode(), answer["headers"]["Content-Type"]))
    return found


def session_of(wire: Wire, folder: Path) -> list[tuple[LlmRequest, TurnEnd]]:
    """The turns of a recorded session, side questions left out."""
    found = []
    for target, asked, answer, content_type in recorded(folder):
        request = request_of(wire, asked, target)
        if not request.utility:
            found.append((request, answered_by(wire, [answer], content_type=content_type)[1]))
    return found
