"""Where stages lie if nobody has said: in a private folder on the workspace's own file system, where what a command
made is put in place by renames, but not in the workspace, where commands would come upon it."""

import os
from collections.abc import Iterator
from pathlib import Path

from paste_proxy.staging.filesystems import mount_of
from paste_proxy.staging.plan import within

_TEMPORARY = Path("/var/tmp")  # noqa: S108  a folder of our own there, whose owner is looked at before it is used


def place_for(workspace: Path) -> Path:
    """The folder, which need not exist: the same for one workspace every time, so that what was left is found. Where
    the workspace's file system has no room for one, it lies on another, and commits copy.

    Args:
        workspace: absolute.
    """
    root = os.path.realpath(workspace)
    candidates = [path for path in _candidates(Path(root)) if not within(os.path.realpath(path), root)]
    near = (path for path in candidates if _shares_mount(path, root))
    return next(near, candidates[0] if candidates else _TEMPORARY / _ours())


def _candidates(workspace: Path) -> Iterator[Path]:
    state = Path(os.environ.get("XDG_STATE_HOME") or "~/.local/state").expanduser()
    if state.is_absolute():
        yield state / "paste-proxy" / "stages"
    yield _TEMPORARY / _ours()
    yield workspace.parent / f".{_ours()}"


def _ours() -> str:
    return f"paste-proxy-stages-{os.geteuid()}"


def _shares_mount(path: Path, workspace: str) -> bool:
    """Whether it is on the workspace's mount and can be made there."""
    there = next(above for above in (path, *path.parents) if above.exists())
    try:
        return os.access(there, os.W_OK | os.X_OK) and mount_of(str(there)) == mount_of(workspace)
    except OSError:
        return False
