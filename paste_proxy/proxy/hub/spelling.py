"""What clients call the tools of servers.

Clients put the server's name before the tool's (`mcp__fs__read_file`, `mcp_fs_read_file`, `fs.read_file`),
replace what a model's API does not take in a name, and cut long names in the middle.
"""

import re
from collections import defaultdict

from paste_proxy.events.invocation import name_of, server_of

_FORMS = ("mcp__{0}__{1}", "mcp_{0}_{1}", "{0}__{1}", "{0}_{1}", "{0}/{1}")
_REPLACED = re.compile(r"[^0-9A-Za-z]")
_CUT_FROM = 56
"""A spelling at least this long may be one that was cut; model APIs take 64 characters."""
_KEPT = 24
"""Characters that every client keeps at both ends of a name that it cuts."""


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
        form = _normal(spelling)
        found = self._by_form.get(form)
        if found is None and len(spelling) >= _CUT_FROM:
            found = {
                tool
                for full, tools in self._by_form.items()
                if len(full) > len(form) and full.startswith(form[:_KEPT]) and full.endswith(form[-_KEPT:])
                for tool in tools
            }
        return _only(found)

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
