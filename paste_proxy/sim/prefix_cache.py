"""What an engine still holds of the contexts of sessions that are between two turns."""

from collections import OrderedDict


class PrefixCache:
    """Contexts by session, each from its beginning on; the one used longest ago loses its end first."""

    def __init__(self) -> None:
        self._tokens: OrderedDict[str, float] = OrderedDict()
        self.held = 0.0
        """Tokens in all."""

    def keep(self, session: str, tokens: float) -> None:
        """A turn is over, and this is the session's context."""
        self.take(session)
        self._tokens[session] = tokens
        self.held += tokens

    def take(self, session: str) -> float:
        """A turn begins: what is held of its session's context is in use now."""
        tokens = self._tokens.pop(session, 0.0)
        self.held = self.held - tokens if self._tokens else 0.0
        return tokens

    def shrink(self, room: float) -> None:
        """No more than so many tokens can be held."""
        over = self.held - max(room, 0.0)
        while self._tokens and over > 0.0:
            session, tokens = next(iter(self._tokens.items()))
            if over >= tokens:
                self.take(session)
            else:
                self._tokens[session] = tokens - over
                self.held -= over
            over -= tokens
