"""Where possible next calls are come upon: by tool and argument, among what is often asked, by patterns, in the
session's own past, and along the lists it works through."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from heapq import nlargest
from itertools import islice

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.outline import Outline
from paste_proxy.events.values import Json
from paste_proxy.mining.bearings import Bearings
from paste_proxy.mining.contexts import outcome, suffixes
from paste_proxy.mining.forecast.arguments import Arguments
from paste_proxy.mining.forecast.choice import Choice
from paste_proxy.mining.forecast.following import following, look_ahead
from paste_proxy.mining.forecast.habits import Habit
from paste_proxy.mining.forecast.measures import Gauge
from paste_proxy.mining.forecast.readers import readers
from paste_proxy.mining.forecast.recall import recall
from paste_proxy.mining.forecast.sight import Sighting, in_sight
from paste_proxy.mining.forecast.situation import cues
from paste_proxy.mining.forecast.slot import Slot
from paste_proxy.mining.forecast.traits import Seen, Teller, Told
from paste_proxy.mining.invoked import invoked
from paste_proxy.mining.mappers import Mapper
from paste_proxy.mining.material import FILE
from paste_proxy.mining.outlook import Outlook
from paste_proxy.mining.templates import Template, bindings
from paste_proxy.mining.window import Window

_TOOLS = 6
_LEAST_TOOL = 0.02
_OF_TOOL = 6
_FREQUENT = 8
_PATTERNS = 24
_GLIMPSED, _GLIMPSED_TOOLS = 12, 2

Executable = Callable[[str], bool]
Found = list[tuple[Seen, Told]]


@dataclass(frozen=True, slots=True)
class _Moment:
    """What all that is found at one moment has in common."""

    own: Mapping[str, float]
    tools: Mapping[str, float]
    teller: Teller
    gauge: Gauge | None
    found: int


@dataclass(frozen=True)
class Finder:
    """What is known of tools and arguments, and the patterns."""

    choice: Choice = field(default_factory=lambda: Choice({}, {}))
    frequent: Mapping[str, Invocation] = field(default_factory=dict)
    """The labels of the choice that are invocations, by key."""
    arguments: Arguments = field(default_factory=lambda: Arguments({}, {}))
    outlook: Outlook = field(default_factory=lambda: Outlook(()))
    judged: bool = False
    """The files in sight are found, too, and all that is found is measured, for a judgement. Which tools read them the
    session tells, where no tool is known."""

    def find(self, window: Window, executable: Executable, habits: Iterable[Habit] = ()) -> Found:
        """The distinct invocations that may come next, and their traits.

        Args:
            habits: of the place where the session is.
        """
        own = self._own(window)
        tools = self._tools(own)
        some = _Some()
        self._argue(some, window, _likeliest(tools, executable))
        labels = [key for key in self._frequent_here(own, window) if executable(self.frequent[key].tool)]
        self._recognise(some, own, nlargest(_FREQUENT, labels, key=lambda key: own[key]))
        self._remember(some, habits, executable)
        return self._found(some, window, own, tools, executable)

    def glimpse(self, window: Window, barred: Executable, least: float) -> Found:
        """What is likeliest of other tools, after `find`, by what is known of the moment: a dozen at most.

        Args:
            barred: those tools.
            least: the probability from which it is of interest. Of tools two that are as likely are looked into, of
                patterns those whose odds are half of it.
        """
        moment: _Moment | None = window.memo.get(id(self))
        if moment is None:
            return []
        own, tools = moment.own, moment.tools
        some = _Some()
        self._consult(some, window, barred, least / 2)
        likely = [label for label, probability in own.items() if probability >= least and label in self.frequent]
        self._recognise(some, own, (label for label in likely if barred(self.frequent[label].tool)))
        self._argue(some, window, _likeliest(tools, barred, _GLIMPSED_TOOLS, least))
        if not own:
            for invocation in islice(reversed(recall(window).invocations.values()), _GLIMPSED):
                if barred(invocation.tool):
                    some.at(invocation)
        return self._told(list(some.seen.values())[:_GLIMPSED], moment)

    def complete(self, window: Window, outline: Outline, habits: Iterable[Habit] = ()) -> Found:
        """The distinct invocations that a call which is being written may come to be, and their traits."""
        own = self._own(window)
        some = _Some()
        self._argue(some, window, [outline.tool], outline.known)
        labels = [key for key in self._frequent_here(own, window) if outline.allows(self.frequent[key])]
        self._recognise(some, own, labels)
        self._remember(some, habits, lambda tool: tool == outline.tool)
        found = self._found(some, window, own, self._tools(own), lambda tool: tool == outline.tool)
        return [one for one in found if outline.allows(one[0].invocation)]

    def look_ahead(self, window: Window, executable: Executable) -> None:
        """Come upon all that can be before a call is answered: what is come upon then is what the answer adds."""
        look_ahead(window)
        some = _Some()
        self._argue(some, window, _likeliest(self._tools(self._own(window)), executable))
        self._consult(some, window, executable)

    def _own(self, window: Window) -> Mapping[str, float]:
        return self.choice.probabilities(cues(window)) if self.choice.bias else {}

    def _frequent_here(self, own: Mapping[str, float], window: Window) -> Iterator[str]:
        """The frequent invocations, without those about files of other checkouts."""
        for key, invocation in self.frequent.items():
            if key in own and (key not in self._placed or _is_here(invocation, window)):
                yield key

    @cached_property
    def _placed(self) -> frozenset[str]:
        """The frequent invocations that name an absolute path."""
        return frozenset(key for key, one in self.frequent.items() if any(map(_is_path, one.arguments.values())))

    def _tools(self, own: Mapping[str, float]) -> dict[str, float]:
        tools: dict[str, float] = {}
        for label, probability in own.items():
            if label:
                tool = self.frequent[label].tool if label in self.frequent else label
                tools[tool] = tools.get(tool, 0.0) + probability
        return tools

    def _argue(
        self, some: "_Some", window: Window, tools: Iterable[str], known: Mapping[str, Json] | None = None
    ) -> None:
        for tool in tools:
            for rank, (odds, invocation) in enumerate(self.arguments.likely(tool, window, _OF_TOOL, known)):
                one = some.at(invocation)
                one.argued, one.rank = odds, rank

    def _recognise(self, some: "_Some", own: Mapping[str, float], labels: Iterable[str]) -> None:
        for key in labels:
            some.at(self.frequent[key]).chosen = own[key]

    def _remember(self, some: "_Some", habits: Iterable[Habit], executable: Executable) -> None:
        for habit in habits:
            if executable(habit.invocation.tool):
                some.at(habit.invocation).habit = habit

    def _consult(self, some: "_Some", window: Window, executable: Executable, least: float = 0.0) -> None:
        """Come upon what patterns give.

        Args:
            least: the odds of the best binding below which a pattern is passed over.
        """
        for expected in self.outlook.expected(suffixes(window.context()))[:_PATTERNS]:
            template = expected.pattern.template
            if expected.odds[0][1] < least or not executable(template.tool):
                continue
            constant = template.constant if isinstance(template, Template) else None
            if constant is None or _is_here(constant, window):
                bound = bindings(template, window, len(expected.odds))
                for invocation, odds in zip(bound, expected.odds, strict=False):
                    some.at(invocation).vote(odds, expected.pattern.id)

    def _found(
        self,
        some: "_Some",
        window: Window,
        own: Mapping[str, float],
        tools: Mapping[str, float],
        executable: Executable,
    ) -> Found:
        self._consult(some, window, executable)
        sights = self._look(some, window, tools, executable)
        past = recall(window)
        for invocation in past.invocations.values():
            if executable(invocation.tool):
                some.at(invocation)
        for rank, invocation in enumerate(following(window)):
            if executable(invocation.tool):
                one = some.at(invocation)
                one.following = min(rank, one.following)
        last = outcome(window.context()[-1])
        teller = Teller(tools, own, past, last, knows=bool(self.choice.bias))
        gauge = Gauge(window, self._readers_at(window), sights, past, last) if self.judged else None
        moment = window.memo[id(self)] = _Moment(own, tools, teller, gauge, len(some.seen))
        return self._told(some.seen.values(), moment)

    def _told(self, seen: Iterable[Seen], moment: _Moment) -> Found:
        found = []
        for one in seen:
            one.frequent = one.invocation.key in self.frequent
            found.append((one, moment.teller.traits(one)))
            if moment.gauge is not None:
                one.measures = moment.gauge.measures(one, moment.found)
        return found

    def _look(
        self, some: "_Some", window: Window, tools: Mapping[str, float], executable: Executable
    ) -> Mapping[str, Sighting]:
        """Come upon the files in sight."""
        known = self._readers_at(window) if self.judged else {}
        if not known:
            return {}
        sights = in_sight(window, self._known_folders)
        for tool, name in known.items():
            if (self._knows_none or tools.get(tool, 0.0) >= _LEAST_TOOL) and executable(tool):
                for path in sights:
                    some.at(invoked(tool, {name: path}))
        return sights

    def _readers_at(self, window: Window) -> Mapping[str, str]:
        """The tools that are asked for one file, and the argument that names it."""
        return readers(window) if self._knows_none else self._readers

    @property
    def _knows_none(self) -> bool:
        return not self.arguments.shapes

    @cached_property
    def _readers(self) -> dict[str, str]:
        """Those that are usually."""
        alone = {tool: of[0].names[0] for tool, of in self.arguments.shapes.items() if of and len(of[0].names) == 1}
        slots = self.arguments.slots
        return {tool: name for tool, name in alone.items() if _takes_files(slots[tool, name])}

    @cached_property
    def _known_folders(self) -> Bearings:
        """Those of the paths that are often asked for."""
        known = Bearings()
        frequent = (value for one in self.frequent.values() for value in one.arguments.values())
        constants = (constant.value for slot in self.arguments.slots.values() for constant in slot.constants)
        known.visit(value for value in (*frequent, *constants) if isinstance(value, str) and " " not in value)
        return known


def _likeliest(
    tools: Mapping[str, float], executable: Executable, most: int = _TOOLS, least: float = _LEAST_TOOL
) -> list[str]:
    likely = [tool for tool in tools if tools[tool] >= least and executable(tool)]
    return nlargest(most, likely, key=lambda tool: tools[tool])


def _takes_files(slot: Slot) -> bool:
    return any(isinstance(mapper, Mapper) and mapper.take == FILE for _, mapper in slot.mappers)


def _is_path(value: Json) -> bool:
    return isinstance(value, str) and value.startswith("/")


def _is_here(invocation: Invocation, window: Window) -> bool:
    paths = filter(_is_path, invocation.arguments.values())
    return all(window.bearings.here(path) == path for path in paths)


class _Some:
    """Invocations by key, each noted once."""

    def __init__(self) -> None:
        self.seen: dict[str, Seen] = {}

    def at(self, invocation: Invocation) -> Seen:
        known = self.seen.get(invocation.key)
        if known is None:
            known = self.seen[invocation.key] = Seen(invocation)
        return known
