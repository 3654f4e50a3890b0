"""What mappers have in common whatever the tool, so that what is known of some holds for others."""

from dataclasses import replace

from paste_proxy.mining.algebra import LiveMapper, kind_of
from paste_proxy.mining.forms import LISTED
from paste_proxy.mining.mappers import Mapper
from paste_proxy.mining.material import FILE
from paste_proxy.mining.mentions import KINDS
from paste_proxy.mining.window import ANY, CALL, OUTPUT

_MENTIONS = (*KINDS, FILE)
_ANY_MAPPER = frozenset(("constant", "share", "phrase", "used", "kin"))
"""What begins the marks that no mapper gives."""
_LIKE = "like"
_COARSE = ("file", "folder", "url", "words")
"""What ends a likeness that tells nothing of a project."""


def for_any_tool(mapper: LiveMapper, name: str) -> Mapper | None:
    """The mapper of an argument as it would be for any tool and project; None if it is of some only."""
    if not isinstance(mapper, Mapper) or mapper.frame not in ("", LISTED):
        return None
    if mapper.take not in _MENTIONS and not _of_own_name(mapper, name):
        return None
    if mapper.source.origin not in (CALL, OUTPUT):
        return mapper
    return replace(mapper, source=replace(mapper.source, tool=ANY, each=True))


def kind_at(mapper: LiveMapper, name: str) -> str:
    """The kind of a mapper of an argument, and whether it looks where the argument's own name stands."""
    return f"{kind_of(mapper)} own" if isinstance(mapper, Mapper) and _of_own_name(mapper, name) else kind_of(mapper)


def holds_anywhere(mark: str) -> bool:
    """Whether the mark of a kind tells nothing of a project, an outcome or a value."""
    kind, _, rest = mark.rpartition("#")
    if "&" in mark or rest.endswith("@"):
        return False
    return kind in _ANY_MAPPER or "|" in kind or (kind == _LIKE and rest.endswith(_COARSE))


def _of_own_name(mapper: Mapper, name: str) -> bool:
    if mapper.take.startswith("/"):
        return mapper.take.rpartition("/")[2] == name
    return mapper.take.partition(":")[2] == name.lower()
