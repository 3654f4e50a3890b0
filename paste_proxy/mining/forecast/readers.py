"""Which tools read a file, told by what a session asked them for: of a tool that nobody mined, no more is known."""

from collections.abc import Iterator, Mapping

from paste_proxy.mining.window import Window

_MOST = 4
"""Those asked last."""
_LONGEST_PATH = 300


def readers(window: Window) -> Mapping[str, str]:
    """The tools that were asked for a file, by an absolute path and nothing beside it, and the argument that named it;
    looked for once between two calls."""
    kept = window.lasting.get(readers)
    if kept is None or kept[1] != window.called:
        kept = window.lasting[readers] = readers, window.called, _told(window)
    found: Mapping[str, str] = kept[2]
    return found


def _told(window: Window) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for tool, arguments in _asked(window):
        if tool not in found and len(arguments) == 1:
            ((name, value),) = arguments.items()
            if _is_path(value):
                found[tool] = name
                if len(found) == _MOST:
                    break
    return found


def _asked(window: Window) -> Iterator[tuple[str, Mapping[str, object]]]:
    for seen in reversed(window.observations):
        if seen.invocation is not None:
            yield seen.tool, seen.invocation.arguments


def _is_path(value: object) -> bool:
    if not isinstance(value, str) or not value.startswith("/") or not 1 < len(value) <= _LONGEST_PATH:
        return False
    return not any(map(str.isspace, value))
