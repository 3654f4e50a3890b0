"""Messages as the Chat Completions API has them: `role, content, tool_calls, tool_call_id`.

Many programs keep their histories so, with fields of their own; what is missing is made up for where the
order tells it: a result without an id answers the oldest open call of its name, or of any.
"""

from collections.abc import Iterator

from paste_proxy.events.values import Json
from paste_proxy.importers.epoch import epoch_seconds, seconds
from paste_proxy.importers.said import result_of, text_of
from paste_proxy.importers.transcript import Transcript
from paste_proxy.wire.loose import listing, mapping, string

_PEOPLE = ("user", "human")
_LLM = ("assistant", "ai", "model")
_TOOLS = ("tool", "function")
_TIMES = ("timestamp", "created_at", "ts")


def is_message(value: Json) -> bool:
    """Whether a value may be one message of a conversation."""
    role = mapping(value).get("role")
    return role in (*_PEOPLE, *_LLM, *_TOOLS, "system", "developer") and "parts" not in mapping(value)


class Messages:
    """Tells a transcript what messages say, in order."""

    def __init__(self, transcript: Transcript, model: str = "") -> None:
        self._transcript = transcript
        self._model = model
        self._count = 0
        self._open: list[tuple[str, str]] = []
        """Id and name of the calls that are not answered."""

    def all(self, messages: list[Json]) -> None:
        """Take a whole conversation."""
        for message in map(mapping, messages):
            self.take(message)

    def take(self, message: dict[str, Json], *, tool_s: float | None = None) -> None:
        """Take the next message; `tool_s` is what the tool took, if this is its result."""
        self._count += 1
        ts = next((ts for name in _TIMES if (ts := epoch_seconds(message.get(name))) is not None), None)
        role = message.get("role")
        if role in _PEOPLE:
            self._transcript.user(text_of(message.get("content")), ts)
        elif role in _LLM:
            self._turn(message, ts)
        elif role in _TOOLS:
            for result in listing(message.get("tool_messages")) or [message]:
                self._result(mapping(result), ts, tool_s)

    def _turn(self, message: dict[str, Json], ts: float | None) -> None:
        mark, text = str(self._count), text_of(message.get("content"))
        model = string(message.get("model")) or self._model
        took = seconds(message.get("generation_time_seconds"))
        self._transcript.turn(mark, ts, text=text, model=model, duration_s=took)
        for place, (call_id, name, arguments) in enumerate(calls_of(message)):
            own = call_id or f"{mark}.{place}"
            self._open.append((own, name))
            self._transcript.call(mark, own, name, arguments, ts)

    def _result(self, message: dict[str, Json], ts: float | None, tool_s: float | None) -> None:
        named = [string(one) for one in listing(message.get("tool_call_ids"))]
        given = string(message.get("tool_call_id")) or next(iter(named), "") or string(message.get("id"))
        call_id = self._answered(given, string(message.get("name")))
        failed = message.get("error") is True or message.get("is_error") is True or message.get("status") == "error"
        self._transcript.output(call_id, result_of(message.get("content")), ts, failed=failed, duration_s=tool_s)

    def _answered(self, call_id: str, name: str) -> str:
        by_id = [call for call in self._open if call[0] == call_id]
        by_name = [] if call_id else [call for call in self._open if not name or call[1] == name]
        for call in (by_id or by_name)[:1]:
            self._open.remove(call)
            return call[0]
        return ""


def calls_of(message: dict[str, Json]) -> Iterator[tuple[str, str, Json]]:
    """Id (may be blank), name and arguments of the calls that an assistant's message makes."""
    for call in map(mapping, listing(message.get("tool_calls"))):
        custom = mapping(call.get("custom"))
        function = mapping(call.get("function")) or call
        if custom:
            yield string(call.get("id")), string(custom.get("name")), {"input": custom.get("input")}
        else:
            yield string(call.get("id")), string(function.get("name")), _arguments(function)
    legacy = mapping(message.get("function_call"))
    if legacy:
        yield "", string(legacy.get("name")), legacy.get("arguments")


def _arguments(function: dict[str, Json]) -> Json:
    return next((function[name] for name in ("arguments", "args", "input") if name in function), None)
