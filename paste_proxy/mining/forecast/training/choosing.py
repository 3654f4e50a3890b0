"""Learning which tool comes next from the cues of recorded moments."""

from collections import defaultdict
from collections.abc import Sequence

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.types import ToolCall
from paste_proxy.mining.cleaned import public
from paste_proxy.mining.extent import is_long
from paste_proxy.mining.forecast.choice import NOTHING, Choice, evened
from paste_proxy.mining.forecast.situation import cues
from paste_proxy.mining.forecast.training.descent import softmax_over_labels
from paste_proxy.mining.forecast.training.names import Names
from paste_proxy.mining.groups import Recorded
from paste_proxy.mining.infer import LEAST_GROUPS
from paste_proxy.mining.notation import readable
from paste_proxy.mining.replay import replay

FREQUENT_GROUPS = 3
"""Task groups that must have asked for an invocation for it to be a label of its own."""
_LEAST_WEIGHT = 0.3
_EPOCHS, _RATE, _DECAY = 14, 0.3, 3e-4


def frequent_of(sessions: Sequence[Recorded], groups: Sequence[str]) -> dict[str, Invocation]:
    """The invocations that many task groups asked for, by key."""
    where: dict[str, set[str]] = defaultdict(set)
    found: dict[str, Invocation] = {}
    for session, group in zip(sessions, groups, strict=True):
        for event in session.events:
            if isinstance(event, ToolCall) and _may_be_frequent(event.invocation):
                where[event.invocation.key].add(group)
                found[event.invocation.key] = event.invocation
    return {key: found[key] for key in found if len(where[key]) >= FREQUENT_GROUPS}


def _may_be_frequent(call: Invocation) -> bool:
    return bool(call.arguments) and not is_long(call) and readable(call.arguments) and public(call.arguments)


def learn_choice(sessions: Sequence[Recorded], groups: Sequence[str], frequent: dict[str, Invocation]) -> Choice:
    """From what was known before each turn and what it called; calls of one turn share its weight."""
    told: list[list[str]] = []
    asked: list[list[str]] = []
    where: dict[str, set[str]] = defaultdict(set)
    for session, group in zip(sessions, groups, strict=True):
        for at in replay(session):
            if at.calls or not at.next:
                told.append([cue for cue in cues(at.window) if public(cue)])
                for cue in told[-1]:
                    where[cue].add(group)
                asked.append([call.key if call.key in frequent else call.tool for call in at.calls] or [NOTHING])
    cue_of, label_of = Names[str](), Names[str]()
    rows = [[cue_of(cue) for cue in one if len(where[cue]) >= LEAST_GROUPS] for one in told]
    labels = [[label_of(label) for label in one] for one in asked]
    if not any(rows):
        return Choice({}, {})
    sizes = len(cue_of.of), len(label_of.of)
    evens = [evened(len(one)) for one in told]
    bias, weights = softmax_over_labels(rows, labels, sizes, epochs=_EPOCHS, rate=_RATE, decay=_DECAY, evens=evens)
    names = list(label_of.of)
    by_cue: dict[str, dict[str, float]] = {}
    for cue, row in cue_of.of.items():
        kept = (abs(weights[row]) >= _LEAST_WEIGHT).nonzero()[0]
        if len(kept):
            by_cue[cue] = {names[to]: round(float(weights[row, to]), 3) for to in kept}
    return Choice({name: round(float(bias[to]), 3) for to, name in enumerate(names)}, by_cue)
