"""Turns the new messages of an LLM request into events of the session.

Tool results that came through the sidecar were seen when they passed; those of tools the agent runs by
itself are seen here for the first time.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status
from paste_proxy.events.types import Event, ToolCall, ToolOutput, UserMessage
from paste_proxy.events.values import Json
from paste_proxy.proxy.hub.session import AgentSession, AskedCall
from paste_proxy.proxy.hub.toolbox import Resolved
from paste_proxy.wire.types import Message, SeenCall, SeenOutput


@dataclass(frozen=True, slots=True)
class Heard:
    """What a request's new messages say."""

    events: tuple[Event, ...]
    answered: tuple[AskedCall, ...]
    """Calls of the session's own turns that the agent ran past the sidecar."""
    unseen: tuple[Resolved, ...] = ()
    """What calls were made that no answer showed."""


def heard(
    session: AgentSession,
    messages: Sequence[Message],
    resolve: Callable[[str, dict[str, Json]], Resolved],
    now: float | None,
) -> Heard:
    """The events of messages that the session has not seen, in order."""
    events: list[Event] = []
    answered: list[AskedCall] = []
    unseen: list[Resolved] = []
    introduced: dict[str, list[SeenCall]] = {}
    """By id, the calls of the latest message that has any of it; one id may stand for several."""
    for message in messages:
        fresh: dict[str, list[SeenCall]] = {}
        for call in message.calls:
            fresh.setdefault(call.call_id, []).append(call)
        introduced |= fresh
        if message.output is not None:
            own = session.answer(message.output.call_id)
            if own is not None:
                answered.append(own)
                events += _pair(session.id, message.output, own.invocation, own.turn, now)
            elif (foreign := introduced.get(message.output.call_id)) and not session.claimed(message.output.call_id):
                call = foreign.pop(0)
                found = resolve(call.name, call.arguments)
                unseen.append(found)
                events += _pair(session.id, message.output, found.invocation, None, now)
        elif message.role == "user" and message.text:
            events.append(UserMessage(session=session.id, ts=now, text=message.text))
    return Heard(tuple(events), tuple(answered), tuple(unseen))


def _pair(
    session: str, output: SeenOutput, invocation: Invocation, turn: int | None, now: float | None
) -> tuple[Event, Event]:
    return (
        ToolCall(session=session, ts=now, call_id=output.call_id, invocation=invocation, turn=turn),
        ToolOutput(
            session=session,
            ts=now,
            call_id=output.call_id,
            tool=invocation.tool,
            output=output.output,
            status=Status.ERROR if output.failed else Status.OK,
        ),
    )
