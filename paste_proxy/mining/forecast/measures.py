"""What is known of an invocation that may come next, as a row of numbers in a fixed order, for a `Judgement`.

Traits say which of many things is so, and each speaks for itself. Measures say how much, and are judged together: the
next unread file of a plan is likely where the user has just spoken, and not after twenty edits. None names a tool.
"""

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from math import log2

from paste_proxy.events.invocation import Invocation
from paste_proxy.mining.forecast.likeness import kinship, last_path, stem
from paste_proxy.mining.forecast.recall import Recall
from paste_proxy.mining.forecast.sight import Sighting
from paste_proxy.mining.forecast.traits import NOT_FOLLOWING, Seen, logit
from paste_proxy.mining.window import CALL, TURN, USER, Window

_FOUND = (
    *("patterns", "pattern next", "pattern ever", "following"),
    *("repeat", "age", "times", "usual", "followed", "since of tool", "failed", "touched", "touched ago"),
)
_IN_SIGHT = (
    *("in sight", "by user", "by model", "by tool", "by other", "seen ago", "unread before", "first unread"),
    *("place", "beside", "after last", "mentions", "just seen"),
)
_KIN = ("same", "twin", "sibling", "inside", "namesake", "near", "far")
_OF_FILE = (
    *(f"kin {kin}" for kin in _KIN),
    *("same ending", "folder", "named by user", "named by model", "named in answer"),
    *("test", "twin of edited", "twin of read"),
)
_OF_MOMENT = ("after user", "after error", "calls since user", "tool again", "files unread", "found")
MEASURES = (*_FOUND, "file", *_IN_SIGHT, *_OF_FILE, *_OF_MOMENT)
"""Their names."""

_NO_SIGHT = (0.0,) * len(_IN_SIGHT)
_NO_FILE = (0.0,) * (1 + len(_IN_SIGHT) + len(_OF_FILE))
_NO_REPEAT = (0.0,) * 7
_KINSHIPS = {kin: tuple(float(kin == each) for each in _KIN) for kin in _KIN}
_NO_KIN = (0.0,) * len(_KIN)
_TURN_CHARACTERS = 600
_NAME = 4
"""Characters of a name that says something where it stands in a text."""
_EDITED, _READ = 2, 3


class Gauge:
    """What all that may come next has in common.

    Args:
        readers: by tool that is usually asked for one file, the argument that names it.
        past, last: as in `traits`.
    """

    def __init__(
        self,
        window: Window,
        readers: Mapping[str, str],
        sights: Mapping[str, Sighting],
        past: Recall,
        last: str,
    ) -> None:
        self._readers, self._sights, self._past = readers, sights, past
        self._place = last_path(window)
        self._look_back(window)
        self._folders = Counter(path.rpartition("/")[0] for path in (*self._read, *self._edited))
        self._visited = max(1, self._folders.total())
        self._edited_twins, self._read_twins = _twins(self._edited[:_EDITED]), _twins(self._read[:_READ])
        self._after_user, self._after_error = float(last.startswith("user")), float(last.startswith("err"))
        self._unread = _log(len(sights.keys() - set(self._read)))

    def _look_back(self, window: Window) -> None:
        self._user = self._turn = self._answer = self._tool = ""
        self._read: list[str] = []
        self._edited: list[str] = []
        since, spoken = 0, False
        for seen in reversed(window.observations):
            if seen.kind == CALL:
                since += not spoken
                if not self._tool:
                    self._tool, self._answer = seen.tool, seen.said.text().lower() if seen.said is not None else ""
                path = _path_of(seen.invocation) if seen.invocation is not None else None
                if path is not None:
                    (self._read if seen.tool in self._readers else self._edited).append(path)
            elif seen.said is not None and seen.kind == USER and not spoken:
                self._user, spoken = seen.said.text().lower(), True
            elif seen.said is not None and seen.kind == TURN and not self._turn:
                self._turn = seen.said.text()[-_TURN_CHARACTERS:].lower()
        self._since = _log(since)

    def measures(self, one: Seen, found: int) -> tuple[float, ...]:
        """The measures of an invocation, in the order of `MEASURES`.

        Args:
            found: how many may come next.
        """
        tool = one.invocation.tool
        argument = self._readers.get(tool)
        path = one.invocation.arguments.get(argument) if argument and len(one.invocation.arguments) == 1 else None
        return (
            *self._found(one),
            *(self._of_file(path, tool) if isinstance(path, str) and path.startswith("/") else _NO_FILE),
            self._after_user,
            self._after_error,
            self._since,
            float(self._tool == tool),
            self._unread,
            _log(found),
        )

    def _found(self, one: Seen) -> tuple[float, ...]:
        touch = next(filter(None, map(self._past.touched.get, _texts(one.invocation))), None)
        return (
            min(one.votes, 4) / 2,
            logit(one.next),
            logit(one.ever),
            (NOT_FOLLOWING - one.following) / 3,
            *self._repeated(one.invocation.key),
            float(touch is not None),
            _log(touch[1]) if touch is not None else 0.0,
        )

    def _repeated(self, key: str) -> tuple[float, ...]:
        past = self._past
        age = past.age.get(key)
        if age is None:
            return _NO_REPEAT
        times, followed = past.times[key], past.followed[key]
        failed = float(key in past.failed)
        return 1.0, _log(age), _log(times), followed / times, _log(followed), _log(past.nth[key]), failed

    def _of_file(self, path: str, tool: str) -> tuple[float, ...]:
        sight = self._sights.get(path)
        folder, _, base = path.rpartition("/")
        name = base.partition(".")[0].lower()
        telling = len(name) >= _NAME
        twin = folder, stem(base)
        return (
            1.0,
            *(_NO_SIGHT if sight is None else _sighted(sight, tool)),
            *(_KINSHIPS[_kinship(path, self._place)] if self._place else _NO_KIN),
            float(base.rpartition(".")[2] == self._place.rpartition(".")[2]),
            self._folders[folder] / self._visited,
            float(telling and name in self._user),
            float(telling and name in self._turn),
            float(telling and name in self._answer),
            float("test" in base.lower()),
            float(twin in self._edited_twins and path not in self._edited[:_EDITED]),
            float(twin in self._read_twins and path not in self._read[:_READ]),
        )


def _sighted(sight: Sighting, tool: str) -> tuple[float, ...]:
    by_tool = sight.kind == CALL
    return (
        1.0,
        float(sight.kind == USER),
        float(sight.kind == TURN),
        float(by_tool and sight.tool == tool),
        float(by_tool and sight.tool != tool),
        _log(sight.age),
        _log(sight.unread),
        float(sight.unread == 0),
        _log(sight.order),
        _log(sight.beside),
        float(sight.after),
        _log(sight.mentions),
        float(sight.age < 2),
    )


_kinship = lru_cache(maxsize=8_192)(kinship)


def _twins(paths: list[str]) -> set[tuple[str, str]]:
    """The folders and stems of what has the same ones, see `kinship`."""
    return {(folder, stem(base)) for folder, _, base in (path.rpartition("/") for path in paths)}


def _texts(invocation: Invocation) -> list[str]:
    return [value for value in invocation.arguments.values() if isinstance(value, str)]


def _path_of(invocation: Invocation) -> str | None:
    return next((text for text in _texts(invocation) if text.startswith("/") and " " not in text), None)


def _log(number: int) -> float:
    return log2(1 + number) / 3
