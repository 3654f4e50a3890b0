"""What could be hidden at most: every call known at the earliest moment at which it could have run, and run at once.

That is when the last call before it that changes something has ended. Told from what the sessions did without
speculation; the machine is taken to have room for all of it.
"""

from collections.abc import Iterable

from paste_proxy.bench.agent import Played
from paste_proxy.events.invocation import Invocation
from paste_proxy.speculation.plainly_reading import only_reads


def exposed_at_least(played: Iterable[Played]) -> float:
    """Seconds that the sessions would still have waited for tools."""
    return sum(_exposed(one) for one in played)


def _exposed(played: Played) -> float:
    """Once more through the session, in a time of its own in which less is waited for."""
    exposed = gained = 0.0
    changed = played.began
    for span in (span for span in played.spans if span.what == "tool"):
        asks = [ask for ask in played.asks if span.began <= ask.asked and ask.answered <= span.ended]
        began = now = span.began - gained
        for ask in sorted(asks, key=lambda ask: ask.asked):
            takes, asked = ask.answered - ask.asked, max(now, ask.asked - gained)
            ended = max(asked, changed + takes) if may_run_ahead(ask.invocation) else asked + takes
            now = max(now, ended)
            if not reads(ask.invocation):
                changed = now
        exposed += now - began
        gained += span.ended - gained - now
    return exposed


def reads(invocation: Invocation) -> bool:
    """Whether a call leaves the workspace as it is."""
    if _name(invocation) == "run":
        return only_reads(str(invocation.arguments.get("command", "")))
    return _name(invocation) in ("read", "list", "glob", "grep")


def may_run_ahead(invocation: Invocation) -> bool:
    """Whether policies let such calls be run ahead."""
    return _name(invocation) not in ("edit", "write")


def _name(invocation: Invocation) -> str:
    """Of the tool, without its server's."""
    return invocation.tool.rpartition("__")[2]
