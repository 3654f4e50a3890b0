"""What a session's texts are read against: the year of dates without one, the folders of paths without any.

A path is made whole by the last folder the session has named whose end it begins with: after a call about
`/home/me/app/src/api/db.ts`, `api/routes.ts` is `/home/me/app/src/api/routes.ts`. The same moves a path known
from another checkout into this one.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice

from paste_proxy.events.values import Json
from paste_proxy.mining.dates import year_in

_MOST_FOLDERS = 400
_MOST_PATHS = 40
_LONGEST_PATH = 300
_HOMES = ("/Users/", "/home/")
_DEPTH, _DEPTH_AT_HOME = 2, 3
"""Names in the shortest folder that tells one checkout from others."""


@dataclass(slots=True)
class Bearings:
    """Follows a session."""

    year: str | None = None
    """The latest that the session has named."""
    stamp: int = 0
    """Changes whenever the rest does."""
    _folders: dict[str, str] = field(default_factory=dict)
    """By the folder's last name, or its last two."""

    def see(self, text: str) -> None:
        """Take note of the full dates of a text."""
        year = year_in(text, self.year or "")
        if year is not None:
            self.year, self.stamp = year, self.stamp + 1

    def visit(self, paths: Iterable[str]) -> None:
        """Take note of the folders of absolute paths that a call is about."""
        for path in islice(paths, _MOST_PATHS):
            if not path.startswith("/") or len(path) > _LONGEST_PATH:
                continue
            parts = path.split("/")
            least = _DEPTH_AT_HOME if path.startswith(_HOMES) else _DEPTH
            for end in range(least + 1, len(parts)):
                folder = "/".join(parts[:end])
                self._note(parts[end - 1], folder)
                self._note(f"{parts[end - 2]}/{parts[end - 1]}", folder)

    @property
    def lost(self) -> bool:
        """The session has named no folder."""
        return not self._folders

    def whole(self, path: str) -> str | None:
        """The absolute path that a path means here; None if no folder of the session tells."""
        parts = path.removeprefix("./").split("/")
        for end in range(len(parts) - 1, 0, -1):
            name = f"{parts[end - 2]}/{parts[end - 1]}" if end > 1 else parts[0]
            folder = self._folders.get(name)
            if folder is not None:
                return "/".join([folder, *parts[end:]])
        return None

    def here(self, value: Json) -> Json:
        """What a value known from elsewhere is in this session: an absolute path is moved into its folders, None if it
        belongs to none of them."""
        if not isinstance(value, str) or not value.startswith("/") or not self._folders:
            return value
        return self.whole(value)

    def fork(self) -> "Bearings":
        """One with the same past, whose future leaves this one as it is."""
        return Bearings(self.year, self.stamp, dict(self._folders))

    def _note(self, name: str, folder: str) -> None:
        self.stamp += self._folders.pop(name, None) != folder
        self._folders[name] = folder
        if len(self._folders) > _MOST_FOLDERS:
            del self._folders[next(iter(self._folders))]
