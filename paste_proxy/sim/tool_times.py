"""How long a tool takes: as recorded, or drawn from the stated times of its kind.

A call takes the same time whenever it is made in a session, and whoever makes it; another session of the same recording
draws another time.
"""

from collections.abc import Iterable, Mapping
from hashlib import blake2b

from paste_proxy.bench.latency import SPREAD, STATED, Kind, kind_of
from paste_proxy.bench.script import ScriptedCall
from paste_proxy.events.invocation import Invocation, name_of

STATED_S: Mapping[Kind, tuple[float, float]] = {
    **{kind: (one.typical_s * (1 - SPREAD), one.typical_s * (1 + SPREAD)) for kind, one in STATED.items()},
    Kind.SEARCH: (0.5, 2.0),
    Kind.VISIT: (1.0, 5.0),
}
"""Seconds from, to: any of them is as likely, where nothing is recorded."""
TESTS_S = (3.0, 25.0)
_TESTS = ("test", "lint", "build", "check", "vet", "tsc", "fmt")
"""Words of commands that run suites, linters and compilers."""
COMMAND_S = (0.1, 2.0)
"""Of other commands."""


class ToolTimes:
    """Times of one run.

    Args:
        recorded: calls whose times are taken as they were; of a tool with some, calls that nobody recorded take as long
            as one of those.
    """

    def __init__(self, seed: int, recorded: Iterable[ScriptedCall]) -> None:
        self._seed = seed
        self._known: dict[str, list[float]] = {}
        for call in recorded:
            if call.recorded:
                self._known.setdefault(_sort(call.invocation), []).append(call.latency_s)

    def of(self, session: str, call: ScriptedCall) -> float:
        """Seconds of a call that the session makes."""
        return call.latency_s if call.recorded else self.guessed(session, call.invocation)

    def guessed(self, session: str, invocation: Invocation) -> float:
        """Seconds of a call that nobody recorded."""
        unit = self._unit(f"{session} {invocation.key}")
        known = self._known.get(_sort(invocation))
        if known is not None:
            return known[int(unit * len(known))]
        low, high = _stated(invocation)
        return low + (high - low) * unit

    def _unit(self, what: str) -> float:
        digest = blake2b(f"{self._seed} {what}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return int.from_bytes(digest, "big") / 2**64


def _sort(invocation: Invocation) -> str:
    """Calls that take alike."""
    return f"{invocation.tool}, tests" if is_suite(invocation) else invocation.tool


def is_suite(invocation: Invocation) -> bool:
    """Whether a call runs tests, a linter or a compiler."""
    command = invocation.arguments.get("command")
    return isinstance(command, str) and any(word in command for word in _TESTS)


def _stated(invocation: Invocation) -> tuple[float, float]:
    kind = kind_of(invocation.tool)
    if kind is Kind.COMMAND or name_of(invocation.tool) == "run":
        return TESTS_S if is_suite(invocation) else COMMAND_S
    return STATED_S[kind]
