"""The gates that a config asks for."""

from collections.abc import Mapping

from paste_proxy.config import Config, Engine
from paste_proxy.turns.admission import Admission, Bounds
from paste_proxy.turns.aimd import AimdBand
from paste_proxy.turns.band import Band, FixedBand, KneeBand
from paste_proxy.turns.gate import Gate
from paste_proxy.turns.priority import Priority


def gates_of(config: Config) -> Mapping[str, Gate]:
    """By the name of their engine."""
    return {name: _admission(engine) for name, engine in config.engines.items()}


def paces(config: Config) -> bool:
    """Whether turns of any route wait for anything."""
    return any(route.engine is not None or route.rate_limits for route in config.llm)


def _admission(engine: Engine) -> Admission:
    bounds = Bounds(longest_s=engine.longest_s, begins_s=engine.begins_s)
    return Admission(_band(engine), Priority(), gamma=engine.gamma, bounds=bounds)


def _band(engine: Engine) -> Band:
    if engine.band is not None:
        return FixedBand(*engine.band)
    return AimdBand() if engine.controller == "aimd" else KneeBand()
