"""A session that wants nothing run ahead: it is observed as ever, and nothing is predicted to the scheduler."""

from collections.abc import Callable

from paste_proxy.proxy.hub.session import AgentSession
from paste_proxy.speculation.types import SessionEnded


def opt_out(session: AgentSession, tell: Callable[..., None]) -> None:
    """Run nothing ahead for a session from now on; what is under way or ready is discarded."""
    if session.ahead:
        session.ahead = False
        tell(SessionEnded(session=session.id))
