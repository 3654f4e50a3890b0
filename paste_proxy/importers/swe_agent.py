"""SWE-agent's trajectories (`.traj`): `history`, what the LLM was shown and said, and `trajectory`, its steps.

With function calling the history names tools and arguments; the steps tell how long each action ran.
Without it an action is a line of shell, `bash {command}`. Demonstrations in the history are not the
agent's doing.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from paste_proxy.events.values import Json
from paste_proxy.importers.epoch import seconds
from paste_proxy.importers.messages import Messages, is_message
from paste_proxy.importers.neutral import RecordedSession
from paste_proxy.importers.records import Corrupt, digest, document
from paste_proxy.importers.said import text_of
from paste_proxy.importers.transcript import Transcript
from paste_proxy.wire.loose import listing, mapping, string

_SHELL = "bash"


def read(files: Sequence[Path], corrupt: Corrupt) -> Iterator[RecordedSession]:
    """The sessions of trajectories, one a file.

    Raises:
        InputFault: for a file that is no JSON or no trajectory (unless skipped).
    """
    for path in files:
        whole = document(path, corrupt)
        if whole is None:
            continue
        told = mapping(whole)
        if not recognises(told):
            corrupt.found(str(path), "no trajectory", "an object with trajectory or history")
            continue
        steps = [mapping(step) for step in listing(told.get("trajectory"))]
        history = [mapping(item) for item in listing(told.get("history"))]
        name = f"{path.name.partition('.traj')[0]}-{digest([told.get('trajectory'), told.get('history')])}"
        transcript = Transcript(name, str(path))
        if not steps or any(listing(item.get("tool_calls")) for item in history):
            _by_calls(transcript, [item for item in history if item.get("is_demo") is not True], steps)
        else:
            _by_actions(transcript, history or _asked(steps), steps)
        yield from transcript.sessions()


def recognises(record: dict[str, Json]) -> bool:
    """Whether a document is a trajectory."""
    return isinstance(record.get("trajectory"), list) or any(map(is_message, listing(record.get("history"))[:1]))


def _by_calls(transcript: Transcript, history: list[dict[str, Json]], steps: list[dict[str, Json]]) -> None:
    messages, ran = Messages(transcript), iter(steps)
    took: float | None = None
    for item in history:
        if item.get("role") == "assistant":
            took = seconds(next(ran, {}).get("execution_time"))
        messages.take(item, tool_s=took)


def _by_actions(transcript: Transcript, before: list[dict[str, Json]], steps: list[dict[str, Json]]) -> None:
    for item in before:
        if item.get("role") == "assistant" and item.get("is_demo") is not True:
            break
        if item.get("role") == "user" and item.get("is_demo") is not True:
            transcript.user(text_of(item.get("content")), None)
    for place, step in enumerate(steps):
        mark, action = str(place), string(step.get("action"))
        transcript.turn(mark, None, text=string(step.get("thought")) or string(step.get("response")))
        if action.strip():
            transcript.call(mark, mark, _SHELL, {"command": action}, None)
            output: Json = step.get("observation")
            transcript.output(mark, output, None, duration_s=seconds(step.get("execution_time")))


def _asked(steps: list[dict[str, Json]]) -> list[dict[str, Json]]:
    """What the LLM was shown at the first step."""
    return [mapping(message) for message in listing(steps[0].get("query"))] if steps else []
