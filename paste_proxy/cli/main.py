"""The commands of `paste-proxy` and how faults become exit codes.

Exit codes: 0 done, 1 a check failed, 2 usage or configuration.
"""

import sys

import typer

from paste_proxy import __version__
from paste_proxy.errors import InputFault, PasteError

app = typer.Typer(
    name="paste-proxy",
    help="Run an agent's next tool calls while its LLM still talks.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def root(version: bool = typer.Option(False, "--version", help="Print the version and stop.")) -> None:
    """A sidecar between any LLM agent and its LLM and tool endpoints."""
    if version:
        typer.echo(__version__)
        raise typer.Exit


def run() -> None:
    """Entry point: a fault is one clear sentence on stderr, never a traceback."""
    try:
        app()
    except PasteError as fault:
        typer.echo(f"paste-proxy: {fault}", err=True)
        sys.exit(2 if isinstance(fault, InputFault) else 1)
    except BrokenPipeError:
        sys.exit(1)
