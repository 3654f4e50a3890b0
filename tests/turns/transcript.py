"""A conversation with an admission queue, its commands in short."""

from collections.abc import Sequence

from paste_proxy.turns.admission import Admission, Bounds
from paste_proxy.turns.band import Band, FixedBand
from paste_proxy.turns.priority import Order, Priority
from paste_proxy.turns.types import Admit, Command, Told, TurnFacts, TurnOver, TurnReady


class Transcript:
    """Tell it something, and read what it commands."""

    def __init__(
        self,
        band: Band | None = None,
        order: Order | None = None,
        *,
        bounds: Bounds | None = None,
        gamma: float = 0.0,
        gates: bool = True,
    ) -> None:
        self.admission = Admission(
            band or FixedBand(2.0, 2.0), order or Priority(), gamma=gamma, bounds=bounds, gates=gates
        )

    def __call__(self, now: float, *told: Told) -> list[str]:
        return [said for one in told for said in spoken(self.admission.step(one, now))]


def spoken(commands: Sequence[Command]) -> list[str]:
    return [_spoken(command) for command in commands]


def _spoken(command: Command) -> str:
    if isinstance(command, Admit):
        late = ", late" if command.late else ""
        return f"admit {command.turn} after {command.waited_s:g}{late}"
    return f"turn {command.turn} away for {command.retry_after_s:g}"


def ready(
    turn: int,
    session: str = "",
    *,
    before: int = 1,
    prompt: float = 1_000,
    realized_s: float = 0.0,
    future_s: float = 0.0,
    patience_s: float | None = None,
) -> TurnReady:
    facts = TurnFacts(
        session=session or f"s{turn}",
        prompt_tokens=prompt,
        output_tokens=100,
        turns_before=before,
        realized_s=realized_s,
        future_s=future_s,
    )
    return TurnReady(turn=turn, facts=facts, patience_s=patience_s)


def new(turn: int) -> TurnReady:
    """The first turn of a session of its own."""
    return ready(turn, before=0)


def over(turn: int) -> TurnOver:
    return TurnOver(turn=turn)
