"""What clients call the tools of servers.

Clients put the server's name before the tool's (`mcp__fs__read_file`, `mcp_fs_read_file`, `fs.read_file`),
replace what a model's API does not take in a name, and cut long names in the middle.
"""

import re
from collections import defaultdict

from paste_proxy.events.invocation import name_of, server_of

_FORMS = ("mcp__{0}__{1}", "mcp_{0}_{1}", "{0}__{1}", "{0}_{1}", "{0}/{1}")
_REPLACED = re.compile(r"[^0-9A-Za-z]")
_CUT = re.compile(r"_{3,}")
"""What stands for the middle of a name that a client has cut, as it reads here."""
_CUT_FROM = 56
"""A spelling at least this long may be one that was cut; model APIs take 64 characters."""


class Spellings:
    """The spellings of the tools of servers that are on offer."""

    def __init__(self) -> None:
        self._by_form: dict[str, set[str]] = defaultdict(set)
        self._by_name: dict[str, set[str]] = defaultdict(set)

    def add(self, tool: str) -> None:
        """A tool is on offer."""
        self._by_name[name_of(tool)].add(tool)
        for form in _forms(tool):
            self._by_form[form].add(tool)

    def drop(self, tool: str) -> None:
        """A tool is no longer on offer."""
        _discard(self._by_name, name_of(tool), tool)
        for form in _forms(tool):
            _discard(self._by_form, form, tool)

    def prefixed(self, spelling: str) -> str | None:
        """The tool that this spells with its server's name; None if none does or several do."""
        return _only(self._by_form.get(_normal(spelling)))

    def cut(self, spelling: str) -> str | None:
        """The tool whose prefixed name this may be with its middle cut out; None if none may be or several."""
        form = _normal(spelling)
        cut = _CUT.search(form)
        if len(form) < _CUT_FROM or cut is None:
            return None
        head, tail = form[: cut.start()], form[cut.end() :]
        longer = ((full, tools) for full, tools in self._by_form.items() if len(full) >= len(form))
        return _only({t for full, tools in longer if full.startswith(head) and full.endswith(tail) for t in tools})

    def bare(self, spelling: str) -> str | None:
        """The tool of that name, whatever its server; None if there is none or there are several."""
        return _only(self._by_name.get(spelling))


def _forms(tool: str) -> set[str]:
    server = server_of(tool)
    return {_normal(form.format(server, name_of(tool))) for form in _FORMS} if server else set()


def _normal(name: str) -> str:
    return _REPLACED.sub("_", name)


def _only(found: set[str] | None) -> str | None:
    return next(iter(found)) if found and len(found) == 1 else None


def _discard(index: dict[str, set[str]], key: str, tool: str) -> None:
    index[key].discard(tool)
    if not index[key]:
        del index[key]
