"""`paste-proxy tools`: a stdio MCP server with tools of our own for a folder, behind the sidecar."""

from pathlib import Path
from typing import Annotated

import typer

from paste_proxy.cli.mode import HowFar
from paste_proxy.cli.named import MorePatterns, MorePolicies

_POLICY, _STAGING = "builtin:workbench", "builtin:staging"


def tools(
    workspace: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The folder to work in; this one if not given.")
    ] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Without edit, write and run.")] = False,
    config: Annotated[Path | None, typer.Option(help="Config file; ./paste.toml if it is there.")] = None,
    server: Annotated[
        str, typer.Option(metavar="NAME", help="Its name in tool identities (NAME/tool), by which policies know it.")
    ] = "workbench",
    stage: Annotated[
        bool | None,
        typer.Option(
            "--stage/--no-stage",
            help="Whether commands may be run ahead, held back in a view of the folder until they are asked for; "
            "if not given, as policies say.",
        ),
    ] = None,
    mode: HowFar = None,
    policy: MorePolicies = None,
    pattern: MorePatterns = None,
) -> None:
    """Be an MCP server with tools for a folder, behind the sidecar.

    They are read, list, glob, grep, edit, write and run.

    On stdin and stdout there is nothing but MCP.
    """
    from paste_proxy.cli.serve import DEFAULT_CONFIG, log_to_stderr, read_config, with_options
    from paste_proxy.config import Config, McpServer
    from paste_proxy.errors import InputFault
    from paste_proxy.proxy.mcp.stdio import run_mcp

    log_to_stderr("warning")
    found = read_config(config) if config is not None or DEFAULT_CONFIG.is_file() else Config()
    known = found.mcp.get(server)
    folder = (workspace or (known and known.workbench) or Path()).resolve()
    if not folder.is_dir():
        raise InputFault("--workspace", f"{folder} is no folder", "the folder that the tools are to work in")
    bench = {"workbench": folder, "command": (), "url": None}
    ours = (known or McpServer(workbench=folder)).model_copy(update=bench)
    if read_only:
        ours = ours.model_copy(update={"read_only": True})
    staging = found.staging if stage is None else found.staging.model_copy(update={"enabled": stage})
    found = with_options(found, port=None, mode=mode).model_copy(
        update={
            "staging": staging,
            "policies": (*(policy or ()), *found.policies, *((_STAGING,) if stage else ()), _POLICY),
            "patterns": (*found.patterns, *(pattern or ())),
        }
    )
    raise typer.Exit(run_mcp(server, ours, found))
