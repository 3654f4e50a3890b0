"""What agents ask for in a measurement: the same on both sides, and nothing twice."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from random import Random

from paste_proxy.bench.interference.durations import recorded
from paste_proxy.bench.interference.folder import LOGS, NOTES, log, note
from paste_proxy.bench.interference.guesses import WORKBENCH
from paste_proxy.bench.interference.tool_servers import HTTP_TOOL, MCP_SERVER, MCP_TOOL
from paste_proxy.events.invocation import Invocation
from paste_proxy.events.values import Json

QUIET_WORKBENCH = "workbench-quiet"
"""One after whose answers nothing is guessed."""
_PAUSE_S = 0.01, 0.07
"""Between an answer and the next call, far shorter than an LLM takes, so that there is much to be delayed."""


class Kind(StrEnum):
    """Kinds of calls, each measured by itself."""

    HTTP = "HTTP tool"
    MCP = "MCP tool"
    READ = "local read"
    SEARCH = "local search"
    COMMAND = "command"


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A call that an agent makes."""

    kind: Kind
    invocation: Invocation
    """The tool by its bare name."""
    pause_s: float
    """Before it."""


@dataclass(frozen=True, slots=True)
class AgentPlan:
    """Of one agent, in one block."""

    session: str
    server: str
    """The MCP server that it calls; empty for one that calls tools by HTTP."""
    warming: tuple[PlannedCall, ...]
    """Before anything is measured."""
    calls: tuple[PlannedCall, ...]


@dataclass(frozen=True, slots=True)
class Load:
    """Agents that ask at the same time, and the room that is guessed in beside them."""

    name: str
    agents: tuple[tuple[str, tuple[Kind, ...]], ...]
    """Of each: the server, and the kinds of calls it makes."""
    capacity: tuple[str, ...]
    """The servers whose slots are to be full."""


SLOTS = 8
"""Of each server that guesses are made for, the agents' own calls included."""
WAITING = Load(
    name="tools that wait",
    agents=(
        *(("", (Kind.HTTP,)),) * 3,
        *((MCP_SERVER, (Kind.MCP,)),) * 3,
        *((QUIET_WORKBENCH, (Kind.READ,)),) * 2,
    ),
    capacity=("", MCP_SERVER),
)
COMPUTING = Load(
    name="tools that compute",
    agents=(
        (WORKBENCH, (Kind.READ,)),
        (WORKBENCH, (Kind.READ, Kind.SEARCH)),
        (WORKBENCH, (Kind.READ, Kind.COMMAND)),
    ),
    capacity=(WORKBENCH,),
)
LOADS = (WAITING, COMPUTING)


def planned(load: Load, block: int, calls: int, *, seed: int, warming: int = 3) -> tuple[AgentPlan, ...]:
    """The agents of a block.

    Args:
        calls: of each agent, beside `warming` ones that are not measured.
    """
    plans = []
    for number, (server, kinds) in enumerate(load.agents):
        random = Random(f"{seed}/{load.name}/{block}/{number}")  # noqa: S311 - the same in every run
        made = _calls(random, kinds, f"{seed}-{block}-{number}")
        first = tuple(next(made) for _ in range(warming))
        own = tuple(next(made) for _ in range(calls))
        plans.append(AgentPlan(f"{load.name.replace(' ', '-')}-{block}-{number}", server, first, own))
    return tuple(plans)


def _calls(random: Random, kinds: tuple[Kind, ...], name: str) -> Iterator[PlannedCall]:
    number = 0
    while True:
        for kind in kinds:
            number += 1
            yield PlannedCall(kind, _invocation(random, kind, f"{name}-{number}", number), random.uniform(*_PAUSE_S))


def _invocation(random: Random, kind: Kind, name: str, number: int) -> Invocation:
    match kind:
        case Kind.HTTP | Kind.MCP:
            taken = random.choice(recorded())
            arguments: dict[str, Json] = {"id": name, "ms": taken.ms, "size": taken.size}
            return Invocation(HTTP_TOOL if kind is Kind.HTTP else MCP_TOOL, arguments)
        case Kind.READ:
            return Invocation("read", {"path": note(random.randrange(NOTES)), "limit": 40 + number})
        case Kind.SEARCH:
            return Invocation("grep", {"pattern": f"part {name[-3:]}", "path": "notes"})
        case Kind.COMMAND:
            day = log(random.randrange(LOGS))
            return Invocation("run", {"command": f"sort -k2 {day} | uniq -c | head -n {number}"})
