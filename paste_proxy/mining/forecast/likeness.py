"""What a value looks like, and how near one path is to another."""

from functools import lru_cache

from paste_proxy.events.values import Json
from paste_proxy.mining.shapes import shape_of
from paste_proxy.mining.window import CALL, Window

_LONGEST_SHAPE = 16
_LONGEST_TEXT = 300


def likeness(value: Json) -> str:
    """The look of a value: of a path its beginning and ending, of a text whether it is one word, of which shape."""
    match value:
        case bool():
            return "bool"
        case str():
            return _of_text(value[:_LONGEST_TEXT])
        case list():
            return f"list of {_of_text(value[0]) if value and isinstance(value[0], str) else type(value).__name__}"
        case _:
            return type(value).__name__


@lru_cache(maxsize=8_192)
def _of_text(text: str) -> str:
    if "://" in text[:12]:
        return "url"
    if " " in text or "\n" in text:
        return "words"
    name = text.rpartition("/")[2]
    ending = "." + name.rpartition(".")[2] if "." in name[1:] and len(name.rpartition(".")[2]) < 6 else ""
    if "/" in text:
        return f"{'absolute' if text.startswith(('/', '~')) else 'relative'} path {ending}"
    if ending:
        return f"name {ending}"
    return shape_of(text)[:_LONGEST_SHAPE]


@lru_cache(maxsize=1_024)
def coarsely(like: str) -> str:
    """A likeness without what differs between projects: of a path only whether it ends like a file's."""
    path, _, ending = like.partition(" path ")
    if ending or path in ("absolute", "relative"):
        return f"{path} {'file' if ending else 'folder'}"
    return "file name" if like.startswith("name ") else f"some {like.partition(' ')[0]}"


def last_path(window: Window) -> str:
    """The path that the latest call about one was about; empty if there was none."""
    kept: str | None = window.memo.get("last path")
    if kept is None:
        kept = window.memo["last path"] = _last_path(window)
    return kept


def _last_path(window: Window) -> str:
    for seen in reversed(window.observations):
        if seen.kind == CALL and seen.invocation is not None:
            for value in seen.invocation.arguments.values():
                if isinstance(value, str) and "/" in value and " " not in value and "://" not in value:
                    return value
    return ""


def kinship(path: str, other: str) -> str:
    """How near two paths are: the same, twins (`a.ts`, `a.test.ts`), in one folder, in neighbouring ones, or far."""
    if path == other:
        return "same"
    folder, _, name = path.rpartition("/")
    other_folder, _, other_name = other.rpartition("/")
    if folder == other_folder:
        return "twin" if stem(name) == stem(other_name) else "sibling"
    if path.startswith(other + "/"):
        return "inside"
    if stem(name) == stem(other_name):
        return "namesake"
    above, other_above = folder.rpartition("/")[0], other_folder.rpartition("/")[0]
    return "near" if above in (other_above, other_folder) or folder == other_above else "far"


def stem(name: str) -> str:
    """The name of a file without its ending, and without what makes it the test of another."""
    return name.partition(".")[0].removesuffix("_test").removeprefix("test_")
