"""What each argument was given in recorded sessions: constants, shapes of calls, what the users' words stand for."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from paste_proxy.events.invocation import Invocation
from paste_proxy.events.values import Json, canonical_text
from paste_proxy.mining.cleaned import public
from paste_proxy.mining.forecast.slot import Constant, identity, phrases_of
from paste_proxy.mining.groups import Recorded
from paste_proxy.mining.infer import LEAST_GROUPS, is_explained
from paste_proxy.mining.replay import replay
from paste_proxy.mining.window import USER, Window

_CONSTANTS = 8
_LONGEST_CONSTANT = 200
_FEW = 6
_LEAST_CALLS = 8
_NEARLY_ALL = 0.7
_PHRASE_SURE = 0.6
_LONGEST_MEANT = 120
_USER_CHARACTERS, _MESSAGES = 2_000, 2

Where = tuple[str, str]
"""A tool and an argument."""


@dataclass(slots=True)
class Values:
    """What one argument was given, by identity."""

    calls: int = 0
    times: Counter[object] = field(default_factory=Counter)
    groups: dict[object, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    value: dict[object, Json] = field(default_factory=dict)

    def add(self, group: str, value: Json) -> None:
        """Note a call's value; long ones are no constants."""
        self.calls += 1
        if len(canonical_text(value)) <= _LONGEST_CONSTANT and public(value):
            key = identity(value)
            self.times[key] += 1
            self.groups[key][group] += 1
            self.value[key] = value

    def enumerated(self) -> bool:
        """Whether a few values are nearly all."""
        few = self.times.most_common(_FEW)
        return self.calls >= _LEAST_CALLS and sum(times for _, times in few) >= _NEARLY_ALL * self.calls

    def constants(self, besides: str = "") -> list[Constant]:
        """Values given in two or more other task groups, those of most groups first; at most 8."""
        found = []
        for key, groups in self.groups.items():
            others = len(groups) - (besides in groups)
            if others >= LEAST_GROUPS:
                found.append((others, self.times[key] - groups.get(besides, 0), key))
        found.sort(key=lambda one: (-one[0], -one[1], str(one[2])))
        calls = max(1, self.calls - sum(groups.get(besides, 0) for groups in self.groups.values()))
        return [Constant(self.value[key], round(min(1.0, times / calls), 4)) for _, times, key in found[:_CONSTANTS]]


@dataclass(slots=True)
class Given:
    """All calls of recorded sessions."""

    values: dict[Where, Values] = field(default_factory=lambda: defaultdict(Values))
    shapes: dict[str, Counter[tuple[str, ...]]] = field(default_factory=lambda: defaultdict(Counter))
    _spoken: dict[str, dict[str, dict[str, set[str]]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(lambda: defaultdict(set)))
    )
    """By argument name and phrase of the user: the task groups in which the argument had each value."""
    _meant: dict[str, dict[str, set[str]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(set)))
    """By argument name and value: the task groups that gave it."""
    _standing: dict[str, dict[str, tuple[str, set[str]]]] = field(default_factory=dict)

    @classmethod
    def of(cls, sessions: Sequence[Recorded], groups: Sequence[str]) -> "Given":
        """Gather them."""
        given = cls()
        for session, group in zip(sessions, groups, strict=True):
            for at in replay(session):
                said = {phrase for text in _said(at.window) for phrase in phrases_of(text)} if at.calls else set()
                said = set(filter(public, said))
                for call in at.calls:
                    given.add(group, call, said)
        return given

    def add(self, group: str, call: Invocation, said: Iterable[str]) -> None:
        """Note a call that was made where the user had said these phrases, if its arguments are explained."""
        if not is_explained(call):
            return
        self.shapes[call.tool][tuple(sorted(call.arguments))] += 1
        for name, value in call.arguments.items():
            self.values[call.tool, name].add(group, value)
            if isinstance(value, str) and len(value) <= _LONGEST_MEANT and public(value):
                self._meant[name][value].add(group)
                for phrase in said:
                    self._spoken[name][phrase][value].add(group)

    def phrases(self, name: str, besides: str = "") -> dict[str, Json]:
        """What stands for a value of an argument of this name: what was said in several other tasks that gave it this
        value and seldom another; the value itself, and the last part of a path."""
        standing = self._standing.get(name)
        if standing is None:
            standing = self._standing[name] = self._stand(name)
        return {
            phrase: value
            for phrase, (value, groups) in standing.items()
            if len(groups) - (besides in groups) >= LEAST_GROUPS
        }

    def _stand(self, name: str) -> dict[str, tuple[str, set[str]]]:
        """By phrase: the value it stands for, and the task groups that bear it out."""
        found: dict[str, tuple[str, set[str]]] = {}
        for phrase, by_value in self._spoken[name].items():
            value, groups = max(by_value.items(), key=lambda one: (len(one[1]), one[0]))
            if len(groups) >= LEAST_GROUPS and len(groups) / sum(map(len, by_value.values())) >= _PHRASE_SURE:
                found[phrase] = value, groups
        for value, groups in self._meant[name].items():
            if len(groups) >= LEAST_GROUPS and len(value) > 2:
                found.setdefault(value.lower().replace("_", " "), (value, groups))
                if "/" in value:
                    found.setdefault(value.rpartition("/")[2].lower(), (value, groups))
        return found


def _said(window: Window) -> list[str]:
    """The beginnings of the user's last messages, the last first."""
    users = (seen.said for seen in reversed(window.observations) if seen.kind == USER and seen.said is not None)
    return [said.text()[:_USER_CHARACTERS] for said in islice(users, _MESSAGES)]
