"""What is started for a configured stdio server: its program, or our own tools for its folder."""

from typing import TYPE_CHECKING

from paste_proxy.config import McpServer
from paste_proxy.tools.mcp_child import Child
from paste_proxy.tools.mcp_peer import Peer
from paste_proxy.tools.workbench.backend import Workbench
from paste_proxy.tools.workbench.server import WorkbenchServer

if TYPE_CHECKING:
    from paste_proxy.staging.stages import Stages


async def start(name: str, server: McpServer, stages: "Stages | None" = None, *, inherit: bool = False) -> Peer:
    """Start it.

    Args:
        stages: see `workbench_of`.
        inherit: see `Child.start`.

    Raises:
        UpstreamFault: its program cannot be started.
    """
    workbench = workbench_of(server, stages)
    if workbench is not None:
        return WorkbenchServer(name, workbench)
    return await Child.start(name, server.command, env=server.env, cwd=server.cwd, inherit=inherit)


def workbench_of(server: McpServer, stages: "Stages | None") -> Workbench | None:
    """The tools for a server's folder; None for one that is a program.

    Args:
        stages: where its commands may be run ahead, the same for all that work in one folder; None: nowhere.
    """
    if server.workbench is None:
        return None
    return Workbench(server.workbench, read_only=server.read_only, env=server.env, stages=stages)
