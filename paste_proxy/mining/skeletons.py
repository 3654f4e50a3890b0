"""Texts of one argument that several tasks share but for a few words: `cd {a} && pytest {b} -q`.

The words of a text that fewest tasks know are its holes, the rest is its skeleton, as templates are mined from lines of
logs (SLCT: Vaarandi, "A data clustering algorithm for mining patterns from event logs", 2003). A text is cut at white
space and quotes, into its paths, and within its words; its one to four rarest words are tried.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from paste_proxy.events.types import ToolCall
from paste_proxy.mining.cleaned import public
from paste_proxy.mining.filled import parts_of
from paste_proxy.mining.groups import Recorded

Where = tuple[str, str]
"""A tool and an argument."""
_LONGEST_TEXT = 600
_MOST_WORDS = 60
NAMES = ("a", "b", "c", "d")
"""Of the holes; no skeleton has more."""
_KEPT = 24
"""Skeletons of one argument."""
_CUTS = (
    re.compile(r"""[^\s'"`;|&<>()=,]+"""),
    re.compile(r"[\w@+~-][\w@+~.-]*(?:/[\w@+~-][\w@+~.-]*)*"),
    re.compile(r"[\w@+~-]+(?:\.[\w@+~-]+)*"),
)
"""What counts as one word: of a command line, as a path within it, and within that."""


@dataclass(frozen=True, slots=True)
class Parted:
    """A text as a skeleton and what fills it."""

    skeleton: str
    """With `{a}`, `{b}`... for the holes, named in the order of their first place; the same value has the same name."""
    values: tuple[str, ...]
    """By hole."""


@dataclass(slots=True)
class _Shared:
    """A skeleton and the texts it was found in."""

    groups: set[str] = field(default_factory=set)
    texts: dict[str, Parted] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Skeletons:
    """Those that several task groups share, by argument and by the texts that have them."""

    parted: Mapping[Where, Mapping[str, Sequence[Parted]]] = field(default_factory=dict)

    @classmethod
    def of(cls, sessions: Sequence[Recorded], groups: Sequence[str], least: int) -> "Skeletons":
        """Look for them in recorded calls; `least` task groups must share one."""
        texts: dict[Where, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        for session, group in zip(sessions, groups, strict=True):
            for event in session.events:
                if isinstance(event, ToolCall):
                    for name, value in event.invocation.arguments.items():
                        if isinstance(value, str) and _may_have_holes(value):
                            texts[event.invocation.tool, name][value].add(group)
        found = {where: _shared(of_argument, least) for where, of_argument in texts.items()}
        return cls({where: parted for where, parted in found.items() if parted})

    def of_text(self, tool: str, name: str, text: str) -> Sequence[Parted]:
        """The ways to see a text as a filled skeleton."""
        return self.parted.get((tool, name), {}).get(text, ())


def _may_have_holes(text: str) -> bool:
    """Whether it is short enough, and has nothing in it that would read as a hole, or that a secret left."""
    is_plain = "{" not in text or len(list(parts_of(text, set(NAMES)))) == 1
    return len(text) <= _LONGEST_TEXT and is_plain and public(text)


def _shared(texts: Mapping[str, set[str]], least: int) -> dict[str, list[Parted]]:
    found: dict[str, _Shared] = defaultdict(_Shared)
    for cut in _CUTS:
        words = {text: cut.findall(text) for text in texts}
        known: dict[str, set[str]] = defaultdict(set)
        for text, of_text in words.items():
            for word in of_text:
                known[word] |= texts[text]
        for text, of_text in words.items():
            if len(of_text) <= _MOST_WORDS:
                for holes in _holes([len(known[word]) for word in of_text]):
                    parted = _part(text, cut, of_text, holes)
                    if parted is not None:
                        shared = found[parted.skeleton]
                        shared.groups |= texts[text]
                        shared.texts.setdefault(text, parted)
    kept = [one for one in found.items() if len(one[1].groups) >= least and _varies(one[1].texts.values())]
    kept.sort(key=lambda one: (-len(one[1].groups), -len(one[0]), one[0]))
    by_text: dict[str, list[Parted]] = defaultdict(list)
    for _, shared in kept[:_KEPT]:
        for text, parted in shared.texts.items():
            by_text[text].append(parted)
    return dict(by_text)


def _holes(known: Sequence[int]) -> Iterator[frozenset[int]]:
    """The places of the one to four rarest of some words, and of none that is as rare as one left out.

    Args:
        known: by place, how many task groups know the word.
    """
    order = sorted(range(len(known)), key=lambda place: known[place])
    for holes in range(1, min(len(NAMES), len(known) - 1) + 1):
        if known[order[holes - 1]] < known[order[holes]]:
            yield frozenset(order[:holes])


def _part(text: str, cut: re.Pattern[str], words: Sequence[str], holes: frozenset[int]) -> Parted | None:
    """The text with holes at these places among its words; None where two would touch."""
    pieces: list[str] = []
    named: dict[str, str] = {}
    begin = 0
    for place, found in enumerate(cut.finditer(text)):
        if place in holes:
            if pieces and begin == found.start():
                return None
            name = named.setdefault(words[place], NAMES[len(named)])
            pieces += [text[begin : found.start()], "{", name, "}"]
            begin = found.end()
    return Parted("".join([*pieces, text[begin:]]), tuple(named))


def _varies(texts: Iterable[Parted]) -> bool:
    """Whether each hole is filled in more than one way."""
    return all(len(set(values)) > 1 for values in zip(*(parted.values for parted in texts), strict=True))
