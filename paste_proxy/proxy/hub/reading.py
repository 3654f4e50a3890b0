"""An LLM request as the hub needs it: what tells its history apart, and the end of that history.

A long conversation is sent whole with every turn. Its fingerprints are taken where the body is read, in
the worker process for large ones, and only its latest messages are brought to the hub.
"""

from dataclasses import dataclass, replace

from paste_proxy.proxy.hub.prefix_chain import PrefixChain, chains
from paste_proxy.wire.prompt import Prompt, prompt_of
from paste_proxy.wire.types import LlmRequest, Message

_LATEST = 256
"""Messages kept: more than one turn adds, and more of an unseen past than any predictor looks back on."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A request that was read."""

    request: LlmRequest
    """With its latest messages only, and without what it says of its tools."""
    whole: PrefixChain
    spoken: PrefixChain
    """Without the system's messages."""
    left_out: int = 0
    """How many messages before the latest ones were left out."""
    prompt: Prompt | None = None
    """What a speculative LLM may be told of it, where there is one to be told."""

    def after(self, known: int) -> tuple[Message, ...]:
        """The messages beyond the first `known` of the whole history, as far as they were kept."""
        return self.request.messages[max(0, known - self.left_out) :]


def reading(request: LlmRequest, prompt_chars: int = 0) -> Reading:
    """What to bring to the hub of a request.

    Args:
        prompt_chars: how much a speculative LLM may be told of it; 0 where there is none.
    """
    prompt = prompt_of(request, prompt_chars) if prompt_chars else None
    whole, spoken = chains(request.messages)
    left_out = max(0, len(request.messages) - _LATEST)
    kept = replace(request, messages=request.messages[left_out:], offered=())
    return Reading(kept, whole, spoken, left_out, prompt)
