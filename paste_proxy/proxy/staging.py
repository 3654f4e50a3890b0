"""Whether a sidecar stages commands, and where: only those of our own tools, and only where a rule says so."""

from pathlib import Path
from typing import TYPE_CHECKING

from paste_proxy.clock import Clock
from paste_proxy.config import Config
from paste_proxy.speculation.policy import Policy
from paste_proxy.speculation.types import Mode

if TYPE_CHECKING:
    from paste_proxy.staging.stages import Stages


def staged_workspaces(config: Config, policy: Policy) -> list[Path]:
    """The folders whose commands a rule stages, in the config's order."""
    return [
        server.workbench
        for name, server in config.mcp.items()
        if server.workbench is not None
        and server.stateless
        and not server.read_only
        and any(ruling.staged for ruling in policy.of_tool(f"{name}/run").rulings)
    ]


def stages_of(config: Config, policy: Policy, clock: Clock) -> "Stages | None":
    """The stages that a config asks for, not opened yet; None: nothing is to be staged."""
    workspaces = staged_workspaces(config, policy)
    if not workspaces or not config.staging.enabled or config.speculation.mode is Mode.OFF:
        return None
    from paste_proxy.staging.home import place_for  # the engine of stages is loaded where there are to be some
    from paste_proxy.staging.stages import Bounds, Stages

    wanted = config.staging
    bounds = Bounds(stages=wanted.stages, bytes=wanted.disk_bytes, age_s=wanted.age_s, output_bytes=wanted.output_bytes)
    outside = tuple(str(folder.expanduser().resolve()) for folder in wanted.outside)
    return Stages(wanted.directory or place_for(workspaces[0]), clock, outside=outside, bounds=bounds)
