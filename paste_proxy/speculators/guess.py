"""What comes of asking a speculative LLM once."""

from dataclasses import dataclass

from paste_proxy.speculation.guessing.types import SampleEnd
from paste_proxy.wire.types import SeenCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Guessed:
    """A sample came to its end."""

    sample: int
    end: SampleEnd
    calls: tuple[SeenCall, ...] = ()
    """As the model spells them; none unless its answer is whole."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    fault: str = ""
    """Why it failed, in a few words; nothing of the request or the answer."""
