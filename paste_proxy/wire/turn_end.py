"""The end of a turn whose message is put together."""

from paste_proxy.wire.types import Message, TurnEnd


def turn_end(
    message: Message,
    *,
    complete: bool,
    finish: str | None,
    tokens: tuple[int | None, int | None],
    response_id: str,
    unread: bool = False,
) -> TurnEnd:
    """What an answer said.

    Args:
        tokens: those read and those written, where the answer counts them.
    """
    return TurnEnd(
        text=message.text,
        calls=message.calls,
        complete=complete,
        finish=finish,
        input_tokens=tokens[0],
        output_tokens=tokens[1],
        digest=message.digest,
        response_id=response_id,
        unread=unread,
    )
