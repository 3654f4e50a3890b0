"""What of that which passes through the sidecar may be run ahead, told to predictors in terms of tools and calls.

Where all calls of a tool are alike the tool is told; where rules tell its calls apart, the call. What would be refused
whatever its worth takes no candidate's place, and no more time than it takes to tell that it was likely.
"""

from collections.abc import Container

from paste_proxy.events.invocation import Invocation
from paste_proxy.mining.prediction import Barred
from paste_proxy.proxy.hub.toolbox import Toolbox
from paste_proxy.speculation.admission import barrier
from paste_proxy.speculation.policy import Policy, Ruling
from paste_proxy.speculation.types import Destination, Mode


class Permission:
    """Tools and calls by whatever spelling.

    Args:
        destinations: who may learn of a guess.
    """

    def __init__(self, toolbox: Toolbox, policy: Policy, destinations: Container[Destination], mode: Mode) -> None:
        self._toolbox, self._policy = toolbox, policy
        self._destinations, self._mode = destinations, mode

    def runs(self, tool: str) -> bool:
        """Whether some call of a tool on offer may be run ahead."""
        identity = self._toolbox.identify(tool)
        return self._toolbox.offered(identity) and self._some_run(identity)

    def barred(self, least: float) -> Barred:
        """All on offer that may not, told of from a confidence on. What has no rule is among it: there could be one."""
        return Barred(tool=self._bars_tool, call=self._bars, least=least)

    def _bars_tool(self, tool: str) -> bool:
        identity = self._toolbox.identify(tool)
        return self._toolbox.offered(identity) and not self._some_run(identity)

    def _bars(self, invocation: Invocation) -> bool:
        identity = self._toolbox.identify(invocation.tool)
        ruling = self._policy.of_tool(identity).ruling(invocation)
        return self._toolbox.offered(identity) and not self._lets(ruling, identity)

    def _some_run(self, tool: str) -> bool:
        return any(self._lets(ruling, tool) for ruling in self._policy.of_tool(tool).rulings)

    def _lets(self, ruling: Ruling, tool: str) -> bool:
        if barrier(ruling, self._destinations, self._mode) is not None:
            return False
        return not ruling.staged or self._toolbox.stages(Invocation(tool, {}))
