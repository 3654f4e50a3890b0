"""How many tokens a request comes to, before the engine has read it."""

_STATED = 0.25
"""Tokens a byte, before any was seen: English in JSON."""
_REMEMBERED = 32


class PromptSizes:
    """Tokens a byte of requests, learned from what engines said that they came to."""

    def __init__(self) -> None:
        self._per_byte, self._seen = _STATED, 0

    def expected(self, request_bytes: int) -> float:
        """Tokens of a request of so many bytes."""
        return request_bytes * self._per_byte

    def seen(self, request_bytes: int, tokens: int) -> None:
        """A request came to so many."""
        if request_bytes > 0:
            self._seen = min(self._seen + 1, _REMEMBERED)
            self._per_byte += (tokens / request_bytes - self._per_byte) / self._seen
