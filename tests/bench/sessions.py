"""Hand-made recorded sessions."""

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.result import Status
from paste_proxy.events.types import Event, LlmTurn, ToolCall, ToolOutput, UserMessage
from paste_proxy.events.values import Json

S = "s1"


def said(text: str, ts: float | None = None, session: str = S) -> Event:
    return UserMessage(session=session, ts=ts, text=text)


def spoke(text: str, ts: float | None = None, session: str = S) -> Event:
    return LlmTurn(session=session, ts=ts, text=text)


def called(
    call_id: str,
    tool: str,
    arguments: dict[str, Json],
    ts: float | None = None,
    turn: int | None = None,
    session: str = S,
) -> Event:
    return ToolCall(session=session, ts=ts, call_id=call_id, invocation=Invocation(tool, arguments), turn=turn)


def answered(
    call_id: str,
    tool: str,
    output: Json,
    ts: float | None = None,
    duration_s: float | None = None,
    session: str = S,
    status: Status = Status.OK,
) -> Event:
    return ToolOutput(
        session=session, ts=ts, call_id=call_id, tool=tool, output=output, status=status, duration_s=duration_s
    )


def airline(session: str = S, reservation: str = "ABC") -> list[Event]:
    """Look up, change, look up again: the second answer differs."""
    look: dict[str, Json] = {"reservation_id": reservation}
    return [
        said("Change my flight.", session=session),
        called("c1", "get_user_details", {"user_id": "mia"}, session=session),
        answered("c1", "get_user_details", {"name": "Mia", "reservations": [reservation]}, session=session),
        called("c2", "get_reservation_details", look, session=session),
        answered("c2", "get_reservation_details", {"reservation_id": reservation, "cabin": "economy"}, session=session),
        spoke("Shall I upgrade you?", session=session),
        said("Yes.", session=session),
        called("c3", "update_reservation_flights", {**look, "cabin": "business"}, session=session),
        answered("c3", "update_reservation_flights", "done", session=session),
        called("c4", "get_reservation_details", look, session=session),
        answered(
            "c4", "get_reservation_details", {"reservation_id": reservation, "cabin": "business"}, session=session
        ),
        spoke("You fly business.", session=session),
    ]
