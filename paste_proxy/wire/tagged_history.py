"""The history of an agent whose calls and results are text."""

import re
from collections.abc import Iterable, Iterator

from paste_proxy.wire.digest import message_digest, output_digest
from paste_proxy.wire.tagged_turn import RESULT, read_text
from paste_proxy.wire.types import Message, SeenCall, SeenOutput

_END = "</tool_response>"
_ANSWERS = {"user", "tool", "function"}
_RESULTS = re.compile(f"{RESULT}(.*?){_END}", re.DOTALL)


def read_tagged(messages: Iterable[Message], *, first_only: bool) -> Iterator[Message]:
    """Chat messages with the calls in assistants' texts read, and each result a message of its own.

    A result belongs to the call that stands where it stands: the first result after a turn to the turn's
    first call.
    """
    calls: dict[int, SeenCall] = {}
    answered = 0
    for message in messages:
        if message.role == "assistant":
            turn = message if message.calls else read_text(message.text, first_only=first_only)[0]
            calls, answered = {} if message.calls else {call.order: call for call in turn.calls}, 0
            yield turn
            continue
        results, beside = _results(message, several=max(calls, default=0) > 0)
        if not results:
            yield message
            continue
        for text in results:
            yield _result(text, calls.get(answered))
            answered += 1
        if beside:
            yield Message(role=message.role, text=beside, digest=message_digest(message.role, beside))


def _results(message: Message, *, several: bool) -> tuple[list[str], str]:
    """The results in a message, and what else it says.

    Args:
        several: there may be more than one. Otherwise all between the first opening and the last closing tag is
            one result, which may hold such tags itself.
    """
    text = message.text.strip()
    named = message.output is not None and message.output.call_id
    if named or message.role not in _ANSWERS:
        return [], ""
    if not text.startswith(RESULT):
        return ([message.text] if message.output is not None else []), ""
    if several and (found := _RESULTS.findall(text)):
        return [_inside(result) for result in found], _RESULTS.sub("", text).strip()
    inner, closed, beside = text.removeprefix(RESULT).rpartition(_END)
    return [_inside(inner if closed else beside)], beside.strip() if closed else ""


def _inside(text: str) -> str:
    return text.removeprefix("\n").removesuffix("\n")


def _result(text: str, call: SeenCall | None) -> Message:
    """A tool's result; one without a call is what the agent says about a call that it could not read."""
    call_id = call.call_id if call else ""
    output = SeenOutput(call_id=call_id, output=text) if call else None
    return Message(role="tool", text=text, digest=output_digest(call_id, text), output=output)
