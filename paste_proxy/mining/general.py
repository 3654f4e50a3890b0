"""A model for sessions whose tools nobody has mined: how repeats, re-reads, lists, files and habits go with any tool.

Its finder knows no tool and no argument, so all that it comes upon is the session's own past, the files in sight for
the tools that the session read some with, and the habits of the place; and of what is told of a find only traits that
name no tool are weighed, and measures, which name none.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from paste_proxy.mining.calibration import calibrate
from paste_proxy.mining.contexts import outcome
from paste_proxy.mining.forecast.finder import Executable, Finder, Found
from paste_proxy.mining.forecast.habits import Habit, Habits
from paste_proxy.mining.forecast.model import Model
from paste_proxy.mining.forecast.training.ranking import Ranking
from paste_proxy.mining.forecast.traits import Told
from paste_proxy.mining.groups import Recorded, fold_of, groups_of
from paste_proxy.mining.held_out import HeldOut
from paste_proxy.mining.pool import Pool
from paste_proxy.mining.provenance import origin_of
from paste_proxy.mining.replay import replay
from paste_proxy.mining.window import Window

_FOLDS = 2
_NAMING = ("T:", "A:", "L:", "N:", "R:", "F:", "S:", "H:", "P:", "after:", "touch:", "nth:")
_BLIND = ("tool", "free", "one")


def mine_general(sessions: Sequence[Recorded]) -> tuple[Pool, HeldOut]:
    """A pool with no pattern and a model that holds for any tool, and how it did on held-out tasks.

    The sessions of a source count as those of one place, task after task: what is usual in one was learned from others.
    """
    rankings = [Ranking() for _ in range(_FOLDS)]
    places: dict[str, Habits] = defaultdict(Habits)
    groups = groups_of(sessions)
    for group, together in _by_group(sessions, groups):
        for session in together:
            rankings[fold_of(group, _FOLDS)].add(AnyTool(judged=True, habits=places[session.source]), session)
        for session in together:
            _practise(places[session.source], session)
    weights = [ranking.weights() for ranking in rankings]
    pairs = [pair for at, ranking in enumerate(rankings) for pair in ranking.outcomes(weights[at - 1])]
    learned = Ranking.joined(rankings).weights()
    model = Model(Finder(judged=True), learned.next, learned.ever, calibrate(pairs), learned.soon, learned.later)
    return Pool(models=(model,), origin=origin_of(sessions, groups)), HeldOut.of(pairs)


def _by_group(sessions: Sequence[Recorded], groups: Sequence[str]) -> Iterator[tuple[str, list[Recorded]]]:
    together: dict[str, list[Recorded]] = defaultdict(list)
    for session, group in zip(sessions, groups, strict=True):
        together[group].append(session)
    yield from together.items()


@dataclass(frozen=True)
class AnyTool(Finder):
    """Finds as a sidecar without a pool does, in a place that has habits."""

    habits: Habits = field(default_factory=Habits)

    def find(self, window: Window, executable: Executable, habits: Iterable[Habit] = ()) -> Found:
        """As `Finder.find`, with the traits that name no tool."""
        own = window.asked()
        usual = self.habits.usual(outcome(window.context()[-1]), own)
        found = super().find(window, executable, usual)
        return [(one, Told([tuple(trait for trait in told if general(trait[0]))])) for one, told in found]


def general(trait: str) -> bool:
    """Whether a trait names no tool."""
    return not trait.startswith(_NAMING)


def _practise(habits: Habits, session: Recorded) -> None:
    own: set[str] = set()
    for at in replay(session):
        for call in at.calls:
            habits.note(call, outcome(at.window.context()[-1]), first=call.key not in own)
            own.add(call.key)
