"""Recorded sessions as `mine` and `evaluate` take them: event lines, and a word where it is another form."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from paste_proxy.errors import InputFault

if TYPE_CHECKING:
    from paste_proxy.importers.neutral import RecordedSession


def read_traces(paths: Sequence[Path]) -> "list[RecordedSession]":
    """The sessions of event lines.

    Raises:
        InputFault: as `read_sessions`; for a log of another form that is known, saying which and how it becomes
            event lines.
    """
    from paste_proxy.importers.neutral import read_sessions

    try:
        sessions = read_sessions(paths)
    except InputFault as fault:
        raise _of_a_form(paths) or fault from fault
    if not sessions and (raw := _of_a_form(paths)):
        raise raw
    return sessions


def _of_a_form(paths: Sequence[Path]) -> InputFault | None:
    from paste_proxy.importers.detection import first_form

    for path in paths:
        form = first_form(path)
        if form is not None and form.name != "neutral":
            command = f"paste-proxy import {form.name} {path} -o events.jsonl"
            return InputFault(str(path), f"a log of the form {form.name}", f"the event lines that `{command}` writes")
    return None
