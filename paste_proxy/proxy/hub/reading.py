"""An LLM request as the hub needs it: what tells its history apart, and the end of that history.

A long conversation is sent whole with every turn. Its fingerprints are taken where the body is read, in
the worker process for large ones, and only its latest messages are brought to the hub.
"""

from dataclasses import dataclass, replace

from paste_proxy.proxy.hub.prefix_chain import PrefixChain, chains
from paste_proxy.wire.types import LlmRequest, Message

_LATEST = 256
"""Messages kept: more than one turn adds, and more of an unseen past than any predictor looks back on."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A request that was read."""

    request: LlmRequest
    """With its latest messages only."""
    whole: PrefixChain
    spoken: PrefixChain
    """Without the system's messages."""
    left_out: int = 0
    """How many messages before the latest ones were left out."""

    def after(self, known: int) -> tuple[Message, ...]:
        """The messages beyond the first `known` of the whole history, as far as they were kept."""
        return self.request.messages[max(0, known - self.left_out) :]


def reading(request: LlmRequest) -> Reading:
    """What to bring to the hub of a request."""
    whole, spoken = chains(request.messages)
    left_out = max(0, len(request.messages) - _LATEST)
    return Reading(replace(request, messages=request.messages[left_out:]), whole, spoken, left_out)
