"""Engines that are known, to be looked at through windows."""

from collections.abc import Callable

from paste_proxy.turns.band import KneeBand
from paste_proxy.turns.speeds import Speeds
from paste_proxy.turns.window import Window

Engine = Callable[[float], float]
"""Turns -> seconds of a step."""


def overrun(knee: float) -> Engine:
    return lambda turns: 0.012 * (1 + 0.005 * turns + (turns / knee) ** 2)


def steady(turns: float) -> float:
    return 0.012 * (1 + turns * 16 / 175)


def gives(engine: Engine, turns: float) -> float:
    """Tokens a second."""
    return turns / engine(turns)


def window(token_s: float, turns: float, *, seconds: float = 1.0, prompts: float = 0.0, wanted: bool = True) -> Window:
    """What is seen where so many turns are written, a token each in `token_s`."""
    return Window(
        seconds=seconds,
        tokens=turns * seconds / token_s,
        writing_s=turns * seconds,
        prompts=prompts,
        pressure_s=turns * seconds,
        wanted_s=seconds if wanted else 0.0,
    )


def fill(band: KneeBand, engine: Engine, turns: float, seconds: int, begin: int = 0) -> None:
    """So many turns want the engine, which has as many of them as it may."""
    for now in range(begin, begin + seconds):
        served = min(turns, band.high)
        band.gave(window(engine(served), served, wanted=turns > band.high), Speeds(), now)
