"""Which tokens a tool's output is, behind the call in the context: those that the next request would have had there.

The chat template is given the whole next request, and what it makes of it is compared with what the engine has of it
already. Only the difference is appended.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Appended:
    """What follows the model's turn."""

    tokens: list[int]
    exact: bool
    """What stands before it is, token by token, what the template makes of the turn. Else the model wrote its call in
    other words of the same meaning."""


def behind(held: Sequence[int], following: Sequence[int]) -> Appended | None:
    """What of the next request's tokens is not yet in the engine, where it begins with all that is; None: it does not.

    Args:
        held: the prompt, and what the model wrote up to the token that ended its turn.
        following: the next request.
    """
    if len(following) > len(held) and list(following[: len(held)]) == list(held):
        return Appended(list(following[len(held) :]), exact=True)
    return None


def behind_turn(end: int, turn: Sequence[int], following: Sequence[int]) -> Appended | None:
    """What follows the turn in the next request, however the template writes the turn itself.

    Args:
        end: the token that ended the model's turn.
        turn: what the template makes of the request and that turn.
        following: the next request.

    None: the turn does not end with that token there, or the template writes it otherwise once something follows.
    """
    ends = next((position for position in range(len(turn) - 1, -1, -1) if turn[position] == end), None)
    if ends is None or len(following) <= ends + 1 or list(following[: ends + 1]) != list(turn[: ends + 1]):
        return None
    return Appended(list(following[ends + 1 :]), exact=False)
