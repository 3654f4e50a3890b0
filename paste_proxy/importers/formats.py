"""The forms of session logs that are read, where their programs keep them, and which files are meant."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from paste_proxy.errors import InputFault
from paste_proxy.events.values import Json
from paste_proxy.importers import (
    claude_code,
    codex,
    gemini_cli,
    neutral,
    openai_messages,
    opencode,
    otel,
    qwen_code,
    swe_agent,
    tau_bench,
)
from paste_proxy.importers.neutral import RecordedSession
from paste_proxy.importers.records import Corrupt

_LINES = (".jsonl", ".jsonl.gz")
_JSON = (*_LINES, ".json", ".json.gz")


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One form of session logs."""

    name: str
    looked_for: str
    """What its files are, for people."""
    read: Callable[[Sequence[Path], Corrupt], Iterator[RecordedSession]]
    recognises: Callable[[dict[str, Json]], bool]
    """Whether a record is of this form; of a document that is a list, its first element is shown."""
    picks: Callable[[Path], bool]
    """Whether a file found in a folder is meant."""
    places: tuple[tuple[str, str, str], ...] = ()
    """Where logs are kept: the variable that names a folder, the folder without it, and what is below it."""

    def homes(self) -> list[Path]:
        """The folders where this user's logs would be."""
        return [Path(os.environ.get(name) or folder).expanduser() / below for name, folder, below in self.places]

    def kept(self) -> list[Path]:
        """Those of them that hold any."""
        return [home for home in self.homes() if any(self.picks(path) for path in home.rglob("*"))]


def _ending(*endings: str) -> Callable[[Path], bool]:
    return lambda path: path.name.endswith(endings)


def _of_codex(path: Path) -> bool:
    return path.name.startswith("rollout-") and path.name.endswith(_JSON)


def _of_gemini(path: Path) -> bool:
    in_chats = "chats" in (path.parent.name, path.parent.parent.name)
    saved = path.name.startswith("checkpoint-") and not (path.parent / "chats").is_dir()
    return path.name.endswith(_JSON) and (in_chats or saved)


def _of_qwen(path: Path) -> bool:
    return _of_gemini(path) or (path.name.endswith(_LINES) and "subagents" in path.parts)


def _of_opencode(path: Path) -> bool:
    stored = path.parent.parent.name == "message" or "storage" not in path.parts
    return path.suffix == ".db" or (path.suffix == ".json" and stored)


def _neutral(files: Sequence[Path], corrupt: Corrupt) -> Iterator[RecordedSession]:
    reading = neutral.read(files, skip_bad=corrupt.skip, on_file=corrupt.on_file)
    corrupt.bad += reading.bad
    corrupt.torn += reading.torn
    yield from reading.sessions


def _is_neutral(record: dict[str, Json]) -> bool:
    return "session" in record and "seq" in record and "type" in record


class _Reader(Protocol):
    """A module that reads one form."""

    def read(self, files: Sequence[Path], corrupt: Corrupt) -> Iterator[RecordedSession]: ...
    def recognises(self, record: dict[str, Json]) -> bool: ...


def _form(
    name: str, reader: _Reader, looked_for: str, picks: Callable[[Path], bool], *places: tuple[str, str, str]
) -> Format:
    return Format(
        name=name, looked_for=looked_for, read=reader.read, recognises=reader.recognises, picks=picks, places=places
    )


FORMATS = {
    form.name: form
    for form in (
        Format(
            name="neutral",
            looked_for="event lines in .jsonl or .jsonl.gz files",
            read=_neutral,
            recognises=_is_neutral,
            picks=_ending(*_LINES),
        ),
        _form(
            "claude-code",
            claude_code,
            "transcripts in .jsonl files, one a session",
            _ending(*_LINES),
            ("CLAUDE_CONFIG_DIR", "~/.claude", "projects"),
        ),
        _form("codex", codex, "rollout-*.jsonl files", _of_codex, ("CODEX_HOME", "~/.codex", "sessions")),
        _form(
            "gemini-cli",
            gemini_cli,
            "chats/session-*.json(l) files, or checkpoint-*.json where there are none",
            _of_gemini,
            ("", "~/.gemini", "tmp"),
        ),
        _form(
            "qwen-code",
            qwen_code,
            "chats/*.jsonl and subagents/**/*.jsonl files",
            _of_qwen,
            ("", "~/.qwen", "projects"),
            ("", "~/.qwen", "tmp"),
        ),
        _form(
            "opencode",
            opencode,
            "opencode.db, storage/message/*/*.json, or exported sessions",
            _of_opencode,
            ("XDG_DATA_HOME", "~/.local/share", "opencode"),
        ),
        _form("swe-agent", swe_agent, "*.traj files", _ending(".traj", ".traj.gz")),
        _form("tau-bench", tau_bench, "results in .json files", _ending(".json", ".json.gz")),
        _form(
            "otel",
            otel,
            "GenAI spans in .json or .jsonl files, with the content of messages or tool arguments recorded",
            _ending(*_JSON),
        ),
        _form("openai-messages", openai_messages, "lists of messages in .json or .jsonl files", _ending(*_JSON)),
    )
}
"""By name, the surest to recognise first."""


def files_of(form: Format, paths: Iterable[Path]) -> list[Path]:
    """The files meant: each path itself, or those of this form below a folder in name order; none twice.

    Raises:
        InputFault: a path does not exist, or a folder holds no such file.
    """
    return found_in(paths, form.picks, form.looked_for)


def found_in(paths: Iterable[Path], picks: Callable[[Path], bool], looked_for: str) -> list[Path]:
    """The files meant by paths, `picks` choosing among those in folders.

    Raises:
        InputFault: as `files_of`.
    """
    files: dict[Path, Path] = {}
    for path in paths:
        if path.is_dir():
            found = sorted(file for file in path.rglob("*") if picks(file) and file.is_file())
            if not found:
                raise InputFault(str(path), "a folder without any such log", looked_for)
        elif path.exists():
            found = [path]
        else:
            raise InputFault(str(path), "no such file", looked_for)
        for file in found:
            files.setdefault(file.resolve(), file)
    return list(files.values())
