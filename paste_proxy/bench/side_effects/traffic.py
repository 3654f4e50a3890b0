"""Who talks through the sidecar: agents that play the packaged sessions of all kinds, and ask for nothing with effects.

What a recorded session asks for that may change something is left out, so that any effect there is comes from a guess.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain, count, islice
from random import Random

from paste_proxy.bench.coding.mapping import Project, mapped
from paste_proxy.bench.script import Script, ScriptedCall, ScriptedTurn
from paste_proxy.bench.side_effects.tools import DISPATCH, OWN, WEB, WORKBENCH, has_effects
from paste_proxy.bench.workload import Workload, packaged_tasks
from paste_proxy.events.invocation import Invocation, name_of, server_of

TOGETHER = 12
"""Sessions at once."""
_FORBIDDEN_SHARE = 0.3
"""Of the turns that call something: so many also call what a person forbids."""
_FORBIDDEN = "forbidden-"


class Kind(StrEnum):
    """Of agents, by whose tools they call."""

    AIRLINE = OWN
    RESEARCH = WEB
    CODING = DISPATCH
    PROJECT = WORKBENCH
    """A coding session as one of the project that our own tools work in."""


_KINDS = {Workload.AIRLINE: Kind.AIRLINE, Workload.RESEARCH: Kind.RESEARCH, Workload.CODING: Kind.CODING}


@dataclass(frozen=True, slots=True)
class Task:
    """A session to play."""

    kind: Kind
    script: Script

    @property
    def prefix(self) -> str:
        """What its LLM puts before the tools that it calls."""
        return f"mcp__{self.kind}__" if self.kind in (Kind.RESEARCH, Kind.PROJECT) else ""


def batches(tasks: Iterable[Task], together: int) -> Iterator[list[Task]]:
    """The sessions, so many at once, of all kinds in turn, again and again under new names, without end."""
    mixed = _mixed(list(tasks))
    for number in count(1):
        again = (_named(task, f"{task.kind}-{task.script.session}-{number}") for task in mixed)
        while batch := list(islice(again, together)):
            yield batch


def packaged() -> list[Task]:
    """Every packaged session without what may have an effect; coding ones a second time, as the project's. Blocks."""
    recorded = packaged_tasks(Workload)
    coding = [task.script for task in recorded if task.workload is Workload.CODING]
    tasks = [Task(_KINDS[task.workload], task.script) for task in recorded]
    tasks += [Task(Kind.PROJECT, mapped(script, Project())) for script in coding]
    left = (Task(task.kind, without_effects(task.kind, task.script)) for task in tasks)
    return [task for task in left if task.script.calls]


def without_effects(kind: Kind, script: Script) -> Script:
    """The session with the calls that change nothing, and all that is said."""
    turns = list[ScriptedTurn]()
    for turn in script.turns:
        calls = tuple(call for call in turn.calls if not has_effects(kind, call.invocation))
        if calls or turn.text:
            turns.append(replace(turn, calls=calls))
    return replace(script, turns=tuple(turns))


def _mixed(tasks: Sequence[Task]) -> list[Task]:
    """In turn of each kind, as long as there are any."""
    piles = {kind: [task for task in tasks if task.kind is kind] for kind in Kind}
    longest = max(map(len, piles.values()))
    return list(chain.from_iterable(pile[at : at + 1] for at in range(longest) for pile in piles.values()))


def _named(task: Task, name: str) -> Task:
    calls = count(1)
    turns = (
        replace(turn, calls=tuple(replace(call, call_id=f"{name}-{next(calls)}") for call in turn.calls))
        for turn in task.script.turns
    )
    return replace(task, script=replace(task.script, session=name, turns=tuple(turns)))


def spoken(task: Task, unwanted: Sequence[Invocation]) -> Script:
    """What the LLM of a session writes: tools as it spells them, and here and there a call that a person forbids.

    Args:
        unwanted: those, tools by their identities; drawn by the session's name.
    """
    draw = Random(task.script.session)  # noqa: S311 - the same in every run
    turns = list[ScriptedTurn]()
    for turn in task.script.turns:
        calls = [replace(call, invocation=_spelled(call.invocation, task.prefix)) for call in turn.calls]
        if calls and draw.random() < _FORBIDDEN_SHARE:
            calls.append(_forbidden(draw.choice(unwanted), f"{_FORBIDDEN}{len(turns)}", calls[0]))
        turns.append(replace(turn, calls=tuple(calls)))
    return replace(task.script, turns=tuple(turns))


def is_forbidden(call_id: str) -> bool:
    """Whether it is the id of a call that a person forbids."""
    return call_id.startswith(_FORBIDDEN)


def _spelled(invocation: Invocation, prefix: str) -> Invocation:
    return Invocation(prefix + invocation.tool, invocation.arguments)


def _forbidden(meant: Invocation, call_id: str, like: ScriptedCall) -> ScriptedCall:
    server = server_of(meant.tool)
    spelled = Invocation(f"mcp__{server}__{name_of(meant.tool)}" if server else meant.tool, meant.arguments)
    return replace(like, call_id=call_id, invocation=spelled, arguments=json.dumps(spelled.arguments))
