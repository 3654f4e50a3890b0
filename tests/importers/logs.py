"""Small logs made by hand, and what is read from them."""

import json
from collections.abc import Sequence
from pathlib import Path

from paste_proxy.events.types import LlmTurn, ToolCall, ToolOutput, UserMessage
from paste_proxy.importers.formats import FORMATS
from paste_proxy.importers.neutral import RecordedSession
from paste_proxy.importers.records import Corrupt

Told = dict[str, object]


def write(path: Path, *records: Told) -> Path:
    """JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def read(form: str, *paths: Path) -> list[RecordedSession]:
    """The sessions of files, or of a folder's files that are meant."""
    chosen = FORMATS[form]
    files = [
        file for path in paths for file in ([path] if path.is_file() else sorted(filter(chosen.picks, path.rglob("*"))))
    ]
    return list(chosen.read(files, Corrupt()))


def words(session: RecordedSession) -> list[str]:
    """What people and LLM said, in order."""
    return [event.text for event in session.events if isinstance(event, UserMessage | LlmTurn)]


def users(session: RecordedSession) -> list[str]:
    """What people said."""
    return [event.text for event in session.events if isinstance(event, UserMessage)]


def calls(session: RecordedSession) -> list[tuple[str, Told]]:
    """Tools and arguments."""
    invocations = (event.invocation for event in session.events if isinstance(event, ToolCall))
    return [(invocation.tool, dict(invocation.arguments)) for invocation in invocations]


def outputs(session: RecordedSession) -> list[ToolOutput]:
    """The answers."""
    return [event for event in session.events if isinstance(event, ToolOutput)]


def answers(session: RecordedSession) -> list[tuple[object, str, float | None]]:
    """Output, status and seconds of each answer."""
    return [(event.output, str(event.status), event.duration_s) for event in outputs(session)]


def turns(session: RecordedSession) -> Sequence[LlmTurn]:
    """The LLM's turns."""
    return [event for event in session.events if isinstance(event, LlmTurn)]
