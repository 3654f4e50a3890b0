"""Conversations in the Chat Completions API's words: fine-tuning data, exports, logs of requests.

A file is JSON lines or one JSON document. A conversation is a list of messages, or an object with
`messages` (or with `request` and `response`); a document may be one or a list of them, and a file whose
lines are single messages is one. Its id is the one it names (`session`, `id`...), else made of its content.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from paste_proxy.events.values import Json, loads
from paste_proxy.importers.files import numbered_lines
from paste_proxy.importers.messages import Messages, is_message
from paste_proxy.importers.neutral import RecordedSession
from paste_proxy.importers.records import GOES_ON, Corrupt, digest, document
from paste_proxy.importers.transcript import Transcript
from paste_proxy.wire.loose import listing, mapping, string

_NAMES = ("session", "session_id", "conversation_id", "thread_id", "id")


def read(files: Sequence[Path], corrupt: Corrupt) -> Iterator[RecordedSession]:
    """The conversations of files.

    Raises:
        InputFault: for a file, or a line of one, that is no JSON or holds no conversation (unless skipped).
    """
    for path in files:
        yield from _file(path, corrupt)


def recognises(record: dict[str, Json]) -> bool:
    """Whether a record is a conversation, or a message of one."""
    return is_message(record) or any(map(is_message, _messages(record)[:1]))


def _file(path: Path, corrupt: Corrupt) -> Iterator[RecordedSession]:
    name, single = path.name.partition(".json")[0], list[Json]()
    for where, value in _values(path, corrupt):
        if is_message(value):
            single.append(value)
            continue
        messages = _messages(value)
        if not any(map(is_message, messages)):
            corrupt.found(where, "no conversation", 'messages, or an object with "messages"')
            continue
        yield from _conversation(name, str(path), mapping(value), messages)
    if single:
        yield from _conversation(name, str(path), {}, single)


def _values(path: Path, corrupt: Corrupt) -> Iterator[tuple[str, Json]]:
    """The conversations of a file and where each stands; a file that is no JSON lines is one document."""
    corrupt.on_file(path)
    for number, line in numbered_lines(path):
        try:
            value = loads(line)
        except ValueError as fault:
            if number == 1 and line.rstrip().endswith(GOES_ON):
                yield from _of_document(path, corrupt)
                return
            if line.endswith(b"\n"):
                corrupt.found(f"{path}:{number}", str(fault), "a conversation on each line")
            else:
                corrupt.torn += 1
            continue
        if isinstance(value, list) and not any(map(is_message, value[:1])):
            yield from ((f"{path}:{number}[{place}]", inner) for place, inner in enumerate(value))
        else:
            yield f"{path}:{number}", value


def _of_document(path: Path, corrupt: Corrupt) -> Iterator[tuple[str, Json]]:
    whole = document(path, corrupt)
    if isinstance(whole, list) and not any(map(is_message, whole[:1])):
        yield from ((f"{path}[{place}]", value) for place, value in enumerate(whole))
    elif whole is not None:
        yield str(path), whole


def _messages(value: Json) -> list[Json]:
    if isinstance(value, list):
        return value
    held = mapping(value)
    asked = mapping(held.get("request")) or mapping(held.get("body"))
    answered = mapping(held.get("response"))
    messages = listing(held.get("messages")) or listing(asked.get("messages"))
    choices = [mapping(choice).get("message") for choice in listing(answered.get("choices"))[:1]]
    return [*messages, *choices]


def _conversation(name: str, source: str, held: dict[str, Json], messages: list[Json]) -> Iterator[RecordedSession]:
    own = next((string(held.get(key)) for key in _NAMES if string(held.get(key))), "")
    transcript = Transcript(own or f"{name}-{digest(messages)}", source)
    Messages(transcript, string(held.get("model"))).all(messages)
    yield from transcript.sessions()
