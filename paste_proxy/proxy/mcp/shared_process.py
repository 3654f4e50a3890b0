"""The process that an MCP server's clients without sessions share, running before the first call to it."""

from collections.abc import Callable

from paste_proxy.proxy.mcp.children import McpChildren
from paste_proxy.speculation.preparation import Need, Preparation


class SharedProcess:
    """The agent's own calls go to it; it ends when it is idle.

    Args:
        name: of the server.
        children: its processes.
    """

    apart = False

    def __init__(self, name: str, children: Callable[[], McpChildren]) -> None:
        self._children = children
        self.need = Need(Preparation.SESSION, f"{name}: shared process")

    @property
    def ready(self) -> bool:
        """Whether it runs."""
        return self._children().sharing

    async def prepare(self) -> bool:
        """Start it. False: it runs.

        Raises:
            UpstreamFault: it cannot be started.
        """
        children = self._children()
        if children.sharing:
            return False
        await children.shared()
        return True
