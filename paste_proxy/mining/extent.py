"""How much of what a session holds is looked at: what is larger was written for once, and looking costs more than it
tells. That it happened counts all the same, and who records it keeps it whole."""

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.values import Json

LONGEST_CALL = 2**16
"""Characters of a call's arguments; recorded agents stay below 40,000."""
LONGEST_VALUE = 2**13
"""Characters of a value that is taken over into an argument."""


def is_long(call: Invocation) -> bool:
    """Whether no more is looked at of a call than that its tool was called."""
    return exceeds(call.arguments, LONGEST_CALL)


def is_value(value: Json) -> bool:
    """Whether what stands somewhere may be taken over."""
    if isinstance(value, str):
        return len(value) <= LONGEST_VALUE
    return not isinstance(value, list) or not exceeds(value, LONGEST_VALUE)


def exceeds(value: Json, most: int) -> bool:
    """Whether a value holds more than so many characters, keys, numbers and items in all; goes no further than that."""
    left = most
    waiting = [value]
    while waiting and left >= 0:
        one = waiting.pop()
        if isinstance(one, str):
            left -= len(one)
        elif isinstance(one, dict):
            left -= len(one)
            if left >= 0:
                waiting += one
                waiting += one.values()
        elif isinstance(one, list):
            left -= len(one)
            if left >= 0:
                waiting += one
        else:
            left -= 1
    return left < 0
