"""What is known of a call before all of it is."""

from dataclasses import dataclass

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.values import Json, canonical_text


@dataclass(frozen=True, slots=True)
class Outline:
    """A call that the LLM is still writing, or has just written."""

    tool: str
    known: dict[str, Json]
    """The arguments whose values are known."""
    whole: bool = False
    """There are no other arguments."""

    def allows(self, invocation: Invocation) -> bool:
        """Whether the call may come to be this one."""
        arguments = invocation.arguments
        if self.tool != invocation.tool or (self.whole and len(arguments) != len(self.known)):
            return False
        return all(name in arguments and same_value(arguments[name], value) for name, value in self.known.items())


def same_value(one: Json, other: Json) -> bool:
    """Whether two values are equal as arguments of an invocation: `1`, `1.0` and `true` are three."""
    if type(one) is not type(other):
        return False
    return one == other and (not isinstance(one, list | dict) or canonical_text(one) == canonical_text(other))
