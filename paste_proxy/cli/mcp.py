"""`paste-proxy mcp`: a stdio MCP server that is the given one, behind the sidecar."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paste_proxy.cli.mode import HowFar
from paste_proxy.cli.named import MorePatterns, MorePolicies
from paste_proxy.speculation.types import Mode

if TYPE_CHECKING:
    from paste_proxy.config import Config


def mcp(
    command: Annotated[list[str], typer.Argument(metavar="CMD", help="What starts the MCP server, after a --.")],
    config: Annotated[Path | None, typer.Option(help="Config file; ./paste.toml if it is there.")] = None,
    server: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Its name in tool identities (NAME/tool); if not given, that of the package CMD runs."
        ),
    ] = None,
    sidecar: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            envvar="PASTE_SIDECAR",
            help="Be the server of that name behind a running sidecar; CMD runs only where none answers.",
        ),
    ] = None,
    mode: HowFar = None,
    policy: MorePolicies = None,
    pattern: MorePatterns = None,
) -> None:
    """Be the MCP server that CMD starts, behind the sidecar.

    On stdin and stdout there is nothing but MCP.
    """
    from paste_proxy.cli.server_name import server_name

    if sidecar:
        from paste_proxy.proxy.mcp.joining import run_joined

        if policy or pattern:
            typer.echo("paste-proxy: with --sidecar its own policies and patterns count, not these", err=True)
        raise typer.Exit(run_joined(server or server_name(command), command, sidecar))
    from paste_proxy.cli.serve import DEFAULT_CONFIG, log_to_stderr, read_config, with_options
    from paste_proxy.config import Config, McpServer
    from paste_proxy.proxy.mcp.stdio import run_mcp

    log_to_stderr("warning")
    found = read_config(config) if config is not None or DEFAULT_CONFIG.is_file() else Config()
    found, name = with_options(found, port=None, mode=mode), server or server_name(command)
    found = found.model_copy(
        update={"policies": (*(policy or ()), *found.policies), "patterns": (*found.patterns, *(pattern or ()))}
    )
    if lack := _lacks(name, found):
        typer.echo(f"paste-proxy: {lack}", err=True)
    program = {"command": tuple(command), "url": None, "workbench": None}
    known = found.mcp.get(name) or McpServer(command=tuple(command))
    raise typer.Exit(run_mcp(name, known.model_copy(update=program), found))


def _lacks(name: str, config: "Config") -> str:
    """Why nothing will be run ahead although the mode asks for it; empty if something may be."""
    from paste_proxy.proxy.named_files import read_policy

    if config.speculation.mode is Mode.OFF:
        return ""
    rules = [rule for policy in config.policies for rule in read_policy(policy).rules]
    if not any(rule.of_server(name) for rule in rules):
        mend = "name one with --policy, or under `policies` in the config, or the server with --server"
        return f"no policy speaks of the MCP server {name!r}, so it is only passed through; {mend}"
    if not config.patterns:
        return "the LLM is not in view here, so only patterns can foresee a call: name some with --pattern"
    return ""
