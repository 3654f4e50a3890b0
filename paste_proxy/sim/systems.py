"""The systems that are compared: what is run ahead in each, and what stands before the engine."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from paste_proxy.sim.engine_model import EngineModel
from paste_proxy.sim.gates import LeastAttained, OpenGate
from paste_proxy.turns.admission import Admission
from paste_proxy.turns.aimd import AimdBand
from paste_proxy.turns.band import KneeBand
from paste_proxy.turns.gate import Gate
from paste_proxy.turns.priority import FirstCome, Priority


class Ahead(Enum):
    """What is run ahead."""

    NOTHING = auto()
    SEQUENCES = auto()
    """Calls that came after the same call before."""
    PATTERNS = auto()
    """What the production predictor foresees."""


@dataclass(frozen=True, slots=True)
class System:
    """One way of serving agents."""

    name: str
    ahead: Ahead
    gate: Callable[[EngineModel], Gate]


SYSTEMS = (
    System("fcfs", Ahead.NOTHING, lambda engine: OpenGate()),
    System("agentix", Ahead.NOTHING, lambda engine: LeastAttained(engine.max_batch)),
    System("specfaas", Ahead.SEQUENCES, lambda engine: OpenGate()),
    System("tool_only", Ahead.PATTERNS, lambda engine: OpenGate()),
    System("llm_only", Ahead.NOTHING, lambda engine: Admission(KneeBand(), FirstCome(), gates=False)),
    System("aimd", Ahead.PATTERNS, lambda engine: Admission(AimdBand(), FirstCome(), gates=False)),
    System("paste", Ahead.PATTERNS, lambda engine: Admission(KneeBand(), Priority())),
)
