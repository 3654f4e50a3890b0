"""Arguments that some clients add to every tool for themselves and pass on with the call.

gemini-cli adds a boolean `wait_for_previous` to every tool's schema. Calls that differ in it alone are the
same call if the tool takes no notice of it. That is so where the tool's own schema neither names the
argument nor speaks of arguments it does not name. A schema that refuses them says nothing sure: the
official TypeScript servers list that and yet drop unknown arguments unread. There, a good answer to a live
call that carried the argument shows it. A bad one raises a doubt that only a good one ends.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping

from paste_proxy.events.result import Status
from paste_proxy.events.values import Json
from paste_proxy.wire.mcp_tools import ListedTool, Others

_KEPT = 4_096


class ClientArguments:
    """What one server's tools make of such arguments; knowledge holds as long as a tool's description.

    Args:
        names: the arguments that clients are known to add.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(names)
        self._borne: OrderedDict[tuple[ListedTool, str], bool] = OrderedDict()
        """Whether the tool has answered a live call with the argument well."""

    def answered(self, tool: ListedTool, arguments: Mapping[str, Json], status: Status) -> bool:
        """A live call came back; whether anything new follows from it."""
        before = self.unnoticed(tool)
        for name in self._names & arguments.keys():
            self._borne[tool, name] = self._borne.get((tool, name), False) or status is Status.OK
            if len(self._borne) > _KEPT:
                self._borne.popitem(last=False)
        return self.unnoticed(tool) != before

    def unnoticed(self, tool: ListedTool) -> frozenset[str]:
        """The arguments of which the tool takes no notice."""
        if tool.others is Others.TAKEN:
            return frozenset()
        unless_shown = tool.others is Others.UNSAID
        foreign = self._names - tool.arguments
        return frozenset(name for name in foreign if self._borne.get((tool, name), unless_shown))
