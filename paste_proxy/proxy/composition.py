"""The one place where the sidecar is put together."""

from collections.abc import Mapping

from paste_proxy.config import Config
from paste_proxy.events.values import Json
from paste_proxy.proxy.admin import Rows
from paste_proxy.proxy.app import Parts
from paste_proxy.proxy.ports import TurnTee
from paste_proxy.proxy.stats import stats
from paste_proxy.proxy.tally import Tally
from paste_proxy.speculation.types import Mode


def compose(config: Config) -> Parts:
    """The parts of a sidecar; reads files, so to be called before the event loop runs.

    Raises:
        InputFault: a file that the config names is wrong.
    """
    return forwarding_only()


def forwarding_only() -> Parts:
    """A sidecar that forwards and looks at nothing."""
    tally = Tally()
    return Parts(tally=tally, turns=_Blind(), snapshot=_Nothing(tally), sessions=lambda: 0)


class _Blind:
    """A `TurnGate` and the tee it gives: sees nothing."""

    def opened(self, *, wire: str, headers: Mapping[str, str], body: bytes | None) -> TurnTee:
        return self

    def answer(self, status: int, headers: Mapping[str, str]) -> None:
        pass

    def chunk(self, data: bytes) -> None:
        pass

    def closed(self, *, clean: bool) -> None:
        pass


class _Nothing:
    def __init__(self, tally: Tally) -> None:
        self._tally = tally

    def stats(self) -> Mapping[str, Json]:
        return stats(self._tally, Mode.OFF, sessions=0, exchanges=0)

    def sessions(self) -> Rows:
        return ()

    def patterns(self) -> Rows:
        return ()

    def policies(self) -> Rows:
        return ()
