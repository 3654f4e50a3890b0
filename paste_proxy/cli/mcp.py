"""`paste-proxy mcp`: a stdio MCP server that is the given one, behind the sidecar."""

from pathlib import Path
from typing import Annotated

import typer

from paste_proxy.speculation.types import Mode


def mcp(
    command: Annotated[list[str], typer.Argument(metavar="-- CMD...", help="What starts the MCP server.")],
    config: Annotated[Path | None, typer.Option(help="Config file; ./paste.toml if it is there.")] = None,
    server: Annotated[
        str | None, typer.Option(help="Its name in tool identities (NAME/tool); the command's own if not given.")
    ] = None,
    mode: Annotated[Mode | None, typer.Option(help="How far the sidecar may go, instead of the config's.")] = None,
) -> None:
    """Be the MCP server that CMD starts, behind the sidecar: on stdin and stdout nothing but MCP."""
    from paste_proxy.cli.serve import DEFAULT_CONFIG, log_to_stderr, read_config, with_options
    from paste_proxy.config import Config
    from paste_proxy.proxy.mcp.stdio import run_mcp

    log_to_stderr("warning")
    found = read_config(config) if config is not None or DEFAULT_CONFIG.is_file() else Config()
    name = server or Path(command[0]).name
    raise typer.Exit(run_mcp(name, command, with_options(found, port=None, mode=mode)))
