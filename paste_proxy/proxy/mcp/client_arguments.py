"""Arguments that some clients add to every tool for themselves and pass on with the call.

gemini-cli adds a boolean `wait_for_previous` to every tool's schema. Calls that differ in it alone are the
same call if the tool takes no notice of it: if its own schema neither names the argument nor takes others
than it names, and a live call that carried the argument came back good. What the schema says of refusing
others is not asked: the official TypeScript servers say so and yet drop unknown arguments unread.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping

from paste_proxy.events.result import Status
from paste_proxy.events.values import Json
from paste_proxy.wire.mcp_tools import ListedTool

_KEPT = 4_096


class ClientArguments:
    """What one server's tools make of such arguments; knowledge holds as long as a tool's description.

    Args:
        names: the arguments that clients are known to add.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(names)
        self._borne: OrderedDict[tuple[ListedTool, str], None] = OrderedDict()
        """Tools that have answered a live call with the argument well, longest known first."""

    def answered(self, tool: ListedTool, arguments: Mapping[str, Json], status: Status) -> bool:
        """A live call came back; whether anything new follows from it."""
        before = self.unnoticed(tool)
        for name in self._names & arguments.keys() if status is Status.OK else ():
            self._borne[tool, name] = None
            if len(self._borne) > _KEPT:
                self._borne.popitem(last=False)
        return self.unnoticed(tool) != before

    def unnoticed(self, tool: ListedTool) -> frozenset[str]:
        """The arguments of which the tool takes no notice."""
        if tool.takes_others:
            return frozenset()
        return frozenset(name for name in self._names - tool.arguments if (tool, name) in self._borne)
