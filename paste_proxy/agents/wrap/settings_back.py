"""What a client changes in settings that stand in for the user's, brought back key by key.

A three-way merge: of what the run was given and what it leaves, the difference is laid over what the user's file
says by then. A key that was turned for the run, or that somebody else has changed in the meantime, stays the user's.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from paste_proxy.agents.wrap.settings_file import Settings, read_settings
from paste_proxy.errors import InputFault
from paste_proxy.events.values import Json

_Path = tuple[str, ...]


class Missing:
    """Nothing stands there."""


_MISSING = Missing()
_Value: TypeAlias = "Json | Missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """A settings file of the user's and the one that stands in for it during a run."""

    source: Path
    """The user's; it need not be there."""
    place: Path
    original: Settings
    """What the user's said when the run began."""
    written: Settings
    """What the run was given."""
    free: tuple[_Path, ...] = ()
    """Keys written for the run that say nothing of the sidecar: what the client makes of them is the user's."""


def bring_settings_back(rewritten: Rewritten) -> tuple[str, ...]:
    """Lay the client's changes over the user's file.

    Returns:
        The keys whose changes could not be taken over, `(all)` for the whole file.
    """
    try:
        changes = list(_changes(rewritten.written, read_settings(rewritten.place)))
        if not changes:
            return ()
        current = _plain(rewritten.source)
        if current is None:
            return ("(all)",)
        taken, left = _taken(rewritten, changes, current)
        if taken:
            _write(rewritten.source, current)
        return left
    except (InputFault, OSError):
        return ("(all)",)


def _taken(
    rewritten: Rewritten, changes: list[tuple[_Path, _Value]], current: Settings
) -> tuple[bool, tuple[str, ...]]:
    """Change `current`; whether anything was, and the keys that could not be."""
    taken, left = False, []
    for path, value in changes:
        original, now = _at(rewritten.original, path), _at(current, path)
        turned = path not in rewritten.free and original != _at(rewritten.written, path)
        whole_entry = isinstance(value, Missing) and isinstance(original, dict)
        if now == value or (isinstance(value, Missing) and isinstance(original, Missing)):
            continue
        if now != original or (turned and not whole_entry) or not _set(current, path, value):
            left.append(".".join(path))
        else:
            taken = True
    return taken, tuple(left)


def _changes(before: Json, after: Json, path: _Path = ()) -> Iterator[tuple[_Path, _Value]]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in {**before, **after}:
            yield from _changes_at(before, after, (*path, key))
    elif before != after:
        yield path, after


def _changes_at(before: Settings, after: Settings, path: _Path) -> Iterator[tuple[_Path, _Value]]:
    key = path[-1]
    if key not in after:
        yield path, _MISSING
    elif key not in before:
        yield path, after[key]
    else:
        yield from _changes(before[key], after[key], path)


def _at(tree: Json, path: _Path) -> _Value:
    for key in path:
        if not isinstance(tree, dict) or key not in tree:
            return _MISSING
        tree = tree[key]
    return tree


def _set(tree: Settings, path: _Path, value: _Value) -> bool:
    """Whether it could be set: no part of the path is anything but an object."""
    for key in path[:-1]:
        inner = tree.setdefault(key, {})
        if not isinstance(inner, dict):
            return False
        tree = inner
    if isinstance(value, Missing):
        tree.pop(path[-1], None)
    else:
        tree[path[-1]] = value
    return True


def _plain(path: Path) -> Settings | None:
    """The user's settings if they can be written anew without loss: not where there are comments in them."""
    try:
        found = json.loads(path.read_text("utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _write(path: Path, tree: Settings) -> None:
    target = path.resolve()  # the user's own link stays; what it leads to is written
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
    waiting = target.with_name(f".{target.name}.paste")
    waiting.unlink(missing_ok=True)
    waiting.touch(mode=0o600)
    text = json.dumps(tree, indent=2, ensure_ascii=False) + "\n"
    waiting.write_bytes(text.encode("utf-8", "backslashreplace"))
    waiting.chmod(mode)
    waiting.replace(target)
